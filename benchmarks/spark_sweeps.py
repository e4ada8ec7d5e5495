"""Diffusion with Spark's DataFrames: ``python spark_sweeps.py EDGES LABELS OUT SWEEPS CHANGE``.

So many sweeps, or fewer if temperatures change no more than that. A program for
`benchmarks.beside_spark`, written as one would: no isotherm in it.
"""

import os
import sys
from functools import reduce


def main(edges_path, labels_path, out, sweeps, least_change):
    """Read, sweep, decide by temperatures less their means, write."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    cores = len(os.sched_getaffinity(0))
    spark = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.driver.memory", "8g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", str(4 * cores))
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    given = spark.read.parquet(edges_path)
    edges = given.select("source", "target").union(
        given.select(F.col("target").alias("source"), F.col("source").alias("target"))
    ).distinct().cache()  # fmt: skip
    labels = spark.read.parquet(labels_path).cache()
    classes = sorted(row["label"] for row in labels.select("label").distinct().collect())
    T = [f"t{k}" for k in range(len(classes))]
    degrees = edges.groupBy("source").agg(F.count("*").alias("degree"))
    known = [F.when(F.col("label") == c, 1.0).otherwise(0.0) for c in classes]
    nodes = (
        degrees.withColumnRenamed("source", "node")
        .join(labels, "node", "left")
        .select("node", "degree", "label")
        .cache()
    )
    temperatures = nodes.select("node", *[k.alias(t) for k, t in zip(known, T, strict=True)])
    done = 0
    while done < sweeps:
        done += 1
        before = temperatures
        sums = (
            edges.join(temperatures, edges["target"] == temperatures["node"])
            .groupBy("source")
            .agg(*[F.sum(t).alias(t) for t in T])
        )
        temperatures = (
            nodes.join(sums, nodes["node"] == sums["source"])
            .select(
                "node",
                *[
                    F.when(F.col("label").isNull(), F.col(t) / F.col("degree"))
                    .otherwise(k)
                    .alias(t)
                    for k, t in zip(known, T, strict=True)
                ],
            )
            .localCheckpoint()
        )
        if least_change > 0 and change_of(temperatures, before, T, F) <= least_change:
            break
    print(done, "sweeps")
    means = temperatures.agg(*[F.mean(t).alias(t) for t in T]).collect()[0]
    scores = [F.col(t) - means[t] for t in T]
    best = F.greatest(*scores)
    label = reduce(
        lambda other, pair: F.when(pair[0] == best, F.lit(pair[1])).otherwise(other),
        zip(scores, classes, strict=True),
        F.lit(None),
    )
    temperatures.select("node", label.alias("label"), *T).write.parquet(out)
    spark.stop()


def change_of(now, before, T, F):
    """The greatest change of a temperature."""
    old = before.select(F.col("node").alias("same"), *[F.col(t).alias(f"old_{t}") for t in T])
    changes = F.greatest(*[F.abs(F.col(t) - F.col(f"old_{t}")) for t in T])
    return now.join(old, F.col("node") == F.col("same")).agg(F.max(changes)).collect()[0][0]


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), float(sys.argv[5]))
