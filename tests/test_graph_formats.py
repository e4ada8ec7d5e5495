"""GraphML and GML: what other programs write is read, and anything else is refused by name."""

import re
from io import BytesIO

import igraph
import networkx as nx
import numpy as np
import pytest

from isotherm import GraphError
from isotherm.read.graph_files import contents, gml, graphml, xml_reader

NAMES = ["ada", 'say "hi"', "R&D", "a<b>", "é ß 漢 🙂", "two\nlines", "[x]", "# 1", " ", "&amp;"]
NODES = "<node id='a'/><node id='b'/>"
GML_NODES = "node [ id 1 ] node [ id 2 ]"
WEIGHT = "<key id='w' for='edge' attr.name='Weight' attr.type='double'/>"
DTD = "<!DOCTYPE graphml SYSTEM 'http://graphml.graphdrawing.org/dtds/1.0rc/graphml.dtd'>"


def graph_of(text):
    data = text if isinstance(text, bytes) else text.encode()
    return (graphml.read_graphml if b"<" in data[:4] else gml.read_gml)(BytesIO(data), "f")


def xml(body, keys=""):
    return f"<graphml>{keys}<graph edgedefault='undirected'>{body}</graph></graphml>"


def edges(graph):
    return sorted((*sorted(ends), weight) for *ends, weight in zip(*graph[1:4], strict=True))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "ISO-8859-1", "cp1252"])
def test_graphml_with_all_that_it_may_hold(encoding):
    text = f"""<?xml version="1.0" encoding="{encoding}"?>{DTD}
    <g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://yworks.com">
      <g:desc>a <b>small</b> graph</g:desc>
      <g:key id="d0" for="node" attr.name="club"><g:desc/><g:default>nöne</g:default></g:key>
      <g:key id="d1" for="edge" attr.name="WEIGHT"><g:default> 2.5 </g:default></g:key>
      <g:key id="d2" for="node" yfiles.type="nodegraphics"/> <g:key id="age"/>
      <g:key id="d3" for="edge" attr.name="kind"><g:default>x</g:default></g:key>
      <g:graph edgedefault="directed"><g:data key="d8"><y:Resources/></g:data>
        <g:edge source="b" target="a"><g:data key="d1">1e-3</g:data><g:data key="d3"/></g:edge>
        <g:node id="a"><g:data key="d2"><y:Node><node id="z"/> text</y:Node></g:data></g:node>
        <g:node id="b"><g:desc>b</g:desc><g:data key="d0"><![CDATA[<R&D>]]></g:data></g:node>
        <g:edge source="a" target="c"/>
        <g:node id="c"><g:data key="d0"/><g:data key="age">7</g:data></g:node>
      </g:graph></g:graphml>"""
    graph = graph_of(text.encode(encoding))
    assert graph.nodes == ["a", "b", "c"]
    assert (graph.source, graph.target, graph.weight) == (["b", "a"], ["a", "c"], [0.001, 2.5])
    assert graph.columns == {"club": ["nöne", "<R&D>", ""], "age": [None, None, "7"]}


def test_gml_with_all_that_it_may_hold():
    text = """\ufeff# made by hand
    Creator "me [ not a list"  Version 1.0
    GRAPH
    [ directed 1 label "all" # graph [
      EDGE [ target "2" weight 0.5 Source 1 line [ point [ x 1 ] point [ x 2 ] ] ]
      node [ label "&quot;&#65;&#x42;&#0;&#55296;&nonsense; &amp;amp;
B" Club "red" graphics [ id 7 w [ ] ] id 1 ]
      node[id 2 label"é"club blue note"" note"x"]
      edge [ source # a comment where a value may be
          2 target 2 ] ] after [ node [ ] ]"""
    graph, strange = graph_of(text), '"AB&#0;&#55296;&nonsense; &amp;\nB'
    assert graph.nodes == [strange, "é"]
    assert (graph.source, graph.target, graph.weight) == ([strange, "é"], ["é", "é"], [0.5, 1.0])
    assert graph.columns == {"id": ["1", "2"], "Club": ["red", "blue"], "note": [None, "x"]}


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [('label "x"', "label x", ["x", "x"]), ("", "label x", [None, "x"]), ("", "", None)],
)
def test_gml_nodes_are_named_by_id_where_labels_do_not_tell_them_apart(first, second, kept):
    nodes = f"node [ id 00 {first} ] node [ id 01 {second} ]"
    graph = graph_of(f"graph [ {nodes} edge [ source 00 target 01 ] ]")
    assert graph[:4] == (["00", "01"], ["00"], ["01"], None)
    assert graph.columns == ({} if kept is None else {"label": kept})


def weighted(seed):
    rng = np.random.default_rng(seed)
    graph = [nx.Graph(), nx.MultiDiGraph()][seed % 2]
    graph.add_nodes_from(NAMES, club="x")
    for i, j in rng.integers(len(NAMES), size=(25, 2)).tolist():
        graph.add_edge(NAMES[i], NAMES[j], weight=[i / 8, j, 1e-300, 1e22][rng.integers(4)])
    places = [(NAMES.index(u), NAMES.index(v), float(w)) for u, v, w in graph.edges(data="weight")]
    return graph, sorted((*sorted(ends), weight) for *ends, weight in places)


@pytest.mark.parametrize("seed", range(20))
def test_what_networkx_writes_is_read_back(seed):
    graph, expected = weighted(seed)
    for write in (nx.generate_graphml, nx.generate_gml):
        back = graph_of("\n".join(write(graph)))
        assert back.nodes == NAMES
        assert edges(back) == sorted((*sorted((NAMES[i], NAMES[j])), w) for i, j, w in expected)
        assert back.columns["club"] == ["x"] * len(NAMES)


@pytest.mark.parametrize("seed", range(5))
def test_what_igraph_writes_is_read_back(seed, tmp_path):
    expected = weighted(seed)[1]
    graph = igraph.Graph(len(NAMES), [ends for *ends, _ in expected])
    graph.vs["name"], graph.es["weight"] = NAMES, [weight for *_, weight in expected]
    graph.write_graphml(str(tmp_path / "g.graphml"))
    graph.write_gml(str(tmp_path / "g.gml"))
    for ending, start in (("graphml", "n"), ("gml", "")):
        back = graph_of((tmp_path / f"g.{ending}").read_bytes())
        assert back.nodes == [f"{start}{i}" for i in range(len(NAMES))]
        assert edges(back) == [(f"{start}{i}", f"{start}{j}", w) for i, j, w in expected]
        assert back.columns["name"] == NAMES


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_where_blocks_end_does_not_matter(monkeypatch, size):
    texts = ["\n".join(write(weighted(1)[0])) for write in (nx.generate_graphml, nx.generate_gml)]
    whole = [graph_of(text) for text in texts]
    monkeypatch.setattr(gml, "BLOCK", size)
    monkeypatch.setattr(graphml, "BLOCK", size)
    assert [graph_of(text) for text in texts] == whole
    assert "line 3:" in said("graph [\nnode [ id 1 ]\n1 ]")


def said(text):
    with pytest.raises(GraphError, match=r"\Af(, line \d+)?: .{,400}\Z") as caught:
        graph_of(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<graphml>\n<graph>\n", "line 3: not well-formed XML"),
        (DTD + xml("<node id='a'>&x;</node>"), "the entity 'x' is not declared"),
        ("<!DOCTYPE g [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><graphml/>", "its own declarations"),
        ("<html/>", "not GraphML: the outermost element is <html>"),
        (xml(""), "f: the graph has no nodes"),
        (f"<graphml><graph>{NODES}</graph>\n<graph/></graphml>", "line 2: a second graph"),
        (xml("<node id='a'><graph/></node>"), "nested graphs are not read"),
        (xml("<hyperedge/>"), "hyperedges"),
        (xml("<node id='a'><port name='p'/></node>"), "ports"),
        (xml("<node id='a'><edge/></node>"), "<edge> must not be inside <node>"),
        (xml("\n<node/>"), "line 2: a node without an id"),
        (xml(NODES + "\n<node id='a'/>"), "line 2: a second node with the id 'a'"),
        (xml(NODES + "\n<edge target='a'\n/>"), "line 2: an edge without a source"),
        (xml("\n<edge source='a' target='z'/>" + NODES), "line 2: an edge names the node 'z'"),
        (xml("<node id='a'><data key='k'/></node>"), "no <key> declares the <data> of 'k'"),
        (xml("", "<key id='weight'><default>-1</default></key>"), "the default weight is '-1'"),
        (f"<?xml version='1.0' encoding='{'x' * 9999}'?><graphml/>", "the encoding cannot be read"),
        ("<?xml version='1.0' encoding='euc_jp'?><graphml/>", "the encoding cannot be read"),
        (xml(f"<desc>{'<x>' * 1001}"), "nested more than 1000 deep"),
        ("source target\na b\n", "f: not GML: it has no list called graph"),
        ("source,target\na,b\n\n1,2", "line 4: not GML: expected a key and its value"),
        ("graph 5", "graph must be a list in brackets, got '5'"),
        ("graph [ node [ id 1 ]\n", "line 2: the file ends inside a list"),
        ("graph [ node [ id 1 ] ]\n]", "line 2: a ] without a ["),
        (f"graph [ {GML_NODES} ]\ngraph [ ]", "line 2: a second graph"),
        ("graph [ node [ id 1 graph [ ] ] ]", "nested graphs are not read"),
        ("graph [ node [ id 1 id 2 ] ]", "the node has two values for id"),
        ("graph [ node [ id [ x 1 ] ] ]", "the id of the node must not be a list"),
        ("graph [\nnode [\nlabel 1 ] ]", "line 2: a node without an id"),
        ("graph [ node [ id ] ]", "not GML: expected a key and its value, got 'id ] ]"),
        (
            f"graph [\nedge [\nsource 1 target 3 ] {GML_NODES} ]",
            "line 2: an edge names the node '3'",
        ),
        (b"graph [ node [ id 1 ]\n label '\xff' ]", "line 2: not UTF-8 text"),
        (b"g\0r\0a\0p\0h\0", "line 1: not text: it has a zero byte"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_line(text, what):
    assert what in said(text)


@pytest.mark.parametrize("weight", ["-1", "nan", "inf", "1e999", "heavy", "1_0", "0x1", ""])
def test_a_weight_that_is_none_is_refused_by_edge_and_line(weight):
    data, pair = f"<data key='w'>{weight}</data>", f'weight "{weight}"'
    text = xml(f"{NODES}\n<edge source='a' target='b'>{data}</edge>", WEIGHT)
    assert f"line 2: the edge from 'a' to 'b' has the weight '{weight}'" in said(text)
    assert "two weights" in said(text.replace(data, data * 2))
    text = f"graph [ {GML_NODES}\nedge [ source 1 target 2 {pair} ] ]"
    assert f"line 2: the edge from '1' to '2' has the weight '{weight}'" in said(text)
    assert "two values for weight" in said(text.replace(pair, pair * 2))


def test_attributes_that_would_fill_the_square_of_the_file_are_refused(monkeypatch):
    monkeypatch.setattr(contents, "ALWAYS_ALLOWED", 1000)
    own = " ".join(f"node [ id {i} a{i} 1 ]" for i in range(1000))
    assert "different attributes, and most nodes" in said(f"graph [ {own} ]")
    nodes = "".join(f"<node id='{i}'/>" for i in range(1000))
    keys = "".join(f"<key id='a{i}'><default>1</default></key>" for i in range(1000))
    assert "different attributes, and most nodes" in said(xml(nodes, keys))


@pytest.mark.parametrize("start", ['graph [ a "', "graph [ a # ", "<graphml a='", "<!--"])
def test_a_part_that_never_ends_is_refused_before_it_is_all_read(monkeypatch, start):
    module, read = (graphml, graphml.read_graphml) if start[0] == "<" else (gml, gml.read_gml)
    monkeypatch.setattr(module, "BLOCK", 100)
    monkeypatch.setattr(xml_reader if module is graphml else module, "LONGEST", 1000)
    file = BytesIO(start.encode() + b"x" * 10**5)
    with pytest.raises(GraphError, match="f, line 1: "):
        read(file, "f")
    assert file.tell() < 3000


def test_a_list_within_a_list_may_be_as_deep_as_it_likes():
    deep = "x [ " * 10**5 + "] " * 10**5
    assert graph_of(f"graph [ node [ id 1 {deep} ] ]").nodes == ["1"]


GRAPHML = xml(
    "<node id='a'><data key='c'>red</data></node><node id='b'/><edge source='a' target='b'>"
    "<data key='w'>0.5</data></edge>\n<edge source='b' target='b'/>",
    f"{WEIGHT}<key id='c' for='node'><default>x</default></key>",
)
GML = """graph [ node [ id 1 label "é &quot;" ] # first
node [ id 2 label "b" c [ d 1 ] ] edge [ source 1 target 2 weight 0.5 ] edge [ source 2 target 2 ] ]
"""
TOKENS = re.findall(r"<[^>]*>|\w+|\s+|\S", f"{GRAPHML}{GML}{DTD}<!DOCTYPE><port/><!--<![CDATA[]]>")
TOKENS += ["<?xml version='1.0' encoding='utf-16'?>", "9" * 5000, "-1", "nan", "&#999999;", "\0"]


def accident(rng, data):
    i = int(rng.integers(len(data) + 1))
    j = [i, i + 1, i + int(rng.integers(30)), max(i, len(data) - i)][rng.integers(4)]
    token = TOKENS[rng.integers(len(TOKENS))].encode()
    middle = [b"", rng.bytes(1), rng.bytes(3), token, data[i:j] * 2, token + data[i:j]]
    return data[:i] + middle[rng.integers(len(middle))] + (data[j:] if rng.random() < 0.95 else b"")


@pytest.mark.parametrize(("text", "read"), [(GRAPHML, graphml.read_graphml), (GML, gml.read_gml)])
def test_any_bytes_are_a_graph_or_an_error_that_names_the_file(text, read):
    rng = np.random.default_rng(0)
    n_read = 0
    for n_accidents in [1, 1, 2, 5] * 1000:
        data = text.encode()
        for _ in range(n_accidents):
            data = accident(rng, data)
        try:
            graph = read(BytesIO(data), "f")
        except GraphError as error:
            assert re.match(r"f(, line \d+)?: ", str(error))  # noqa: PT017
            continue
        n_read += 1
        assert {*graph.source, *graph.target} <= set(graph.nodes)
        assert len(set(graph.nodes)) == len(graph.nodes) > 0
        assert len(graph.source) == len(graph.target) == len(graph.weight or graph.source)
        assert all(len(column) == len(graph.nodes) for column in graph.columns.values())
    assert 400 < n_read < 3600
