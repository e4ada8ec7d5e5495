"""Runs → pages: a classification, and why a node has its label."""
