"""GraphML and GML: what other programs write is read, and anything else is refused by name."""

import gzip
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from isotherm import GraphError, IsothermError, NotEnoughMemory, read_graph, read_labels
from isotherm.read.opening import open_source

NAMES = ["ada", 'say "hi"', "R&D", "a<b>", "é ß 漢 🙂", "two\nlines", "[x]", "# 1", " ", "&amp;"]
NODES = "<node id='a'/><node id='b'/>"
GML_NODES = "node [ id 1 ] node [ id 2 ]"
WEIGHT = "<key id='w' for='edge' attr.name='Weight' attr.type='double'/>"
WEIGHT_OF_MINUS_1 = WEIGHT.replace("/>", "><default>-1</default></key>")
KEY = "<key id='k' for='edge' attr.name='key' attr.type='int'/>"
DTD = "<!DOCTYPE graphml SYSTEM 'http://graphml.graphdrawing.org/dtds/1.0rc/graphml.dtd'>"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def graph_of(text):
    Path("f").write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_source("f") as source:
        if source.format.read_contents is None:
            read_graph("f")
            pytest.fail("it is read as a table")
        return source.format.read_contents(source)


def columns(graph):
    return {key: graph.column(key) for key in graph.attributes()}


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
      <g:key id="d2" for="node" yfiles.type="nodegraphics"/> <g:key id="age" attr.name="age"/>
      <g:key id="d8" for="graph" yfiles.type="resources"/>
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
    assert edges(graph) == [("a", "b", 0.001), ("a", "c", 2.5)]
    assert columns(graph) == {"club": ["nöne", "<R&D>", ""], "age": [None, None, "7"]}
    assert graph.directed


def test_gml_with_all_that_it_may_hold():
    text = """\ufeff# made by "hand
    Creator "me [ not a list"  Version 1.0
    graph
    [ directed 1 label "all" # graph [
      edge [ target 2 weight 5e-1 source 1 line [ point [ x 1 ] point [ x 2 ] ] ]
      node [ label "&quot;&#65;&#x42;&nonsense; &amp;amp;
B" Club "red" graphics [ id 7 w [ ] ] id 1 ]
      node[id 2 label"é"Club"blue"note""note"x"]
      edge [ source # a comment where a value may be
          2 target 2 ] ] after [ node [ ] ]"""
    for data in (text, text.replace("\n", "\r\n"), text.removeprefix("\ufeff").encode("utf-16")):
        graph = graph_of(data)
        strange = '"AB&nonsense; &amp;' + ("\r\nB" if data == text.replace("\n", "\r\n") else "\nB")
        assert graph.nodes == [strange, "é"]
        assert {*zip(graph.source, graph.target, graph.weight, strict=True)} == {
            (strange, "é", 0.5),
            ("é", "é", 1.0),
        }
        assert columns(graph) == {"id": ["1", "2"], "Club": ["red", "blue"], "note": [None, "x"]}


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [('label "x"', "label x", ["x", "x"]), ("", "label x", [None, "x"]), ("", "", None)],
)
def test_gml_nodes_are_named_by_id_where_labels_do_not_tell_them_apart(first, second, kept):
    nodes = f"node [ id 10 {first} ] node [ id 11 {second} ]"
    graph = graph_of(f"graph [ {nodes} edge [ source 10 target 11 ] ]")
    assert graph[:4] == (["10", "11"], ["10"], ["11"], None)
    assert columns(graph) == ({} if kept is None else {"label": kept})


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
        assert back.column("club") == ["x"] * len(NAMES)


@pytest.mark.parametrize("seed", range(5))
def test_what_igraph_writes_is_read_back(seed, tmp_path):
    igraph = pytest.importorskip("igraph")
    expected = weighted(seed)[1]
    graph = igraph.Graph(len(NAMES), [ends for *ends, _ in expected])
    graph.vs["name"], graph.es["weight"] = NAMES, [weight for *_, weight in expected]
    graph.write_graphml(str(tmp_path / "g.graphml"))
    graph.write_gml(str(tmp_path / "g.gml"))
    for ending, start in (("graphml", "n"), ("gml", "")):
        back = graph_of((tmp_path / f"g.{ending}").read_bytes())
        assert back.nodes == [f"{start}{i}" for i in range(len(NAMES))]
        assert edges(back) == [(f"{start}{i}", f"{start}{j}", w) for i, j, w in expected]
        assert back.column("name") == NAMES


OURS = r"\Af(, line \d+|, node \d+| cannot be read by networkx)?: .{,400}\Z"
OURS += r"|\Af is XML, but its outermost element"


def said(text):
    with pytest.raises(IsothermError) as caught:
        graph_of(text)
    assert re.match(OURS, str(caught.value))
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<graphml>\n<graph>\n", "line 3: not well-formed XML"),
        (DTD + xml("<node id='a'>&x;</node>"), "the entity 'x' is not declared"),
        ("<!DOCTYPE g [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><graphml/>", "its own declarations"),
        ("<?xml version='1.0'?><svg/>", "its outermost element is neither <graphml> nor <gexf>"),
        ("<graphml/>", "f: no <graph> inside <graphml>"),
        (xml(""), "f: the graph has no nodes"),
        (f"<graphml><graph>{NODES}</graph>\n<graph/></graphml>", "line 2: a second graph"),
        (xml("<node id='a'><graph/></node>"), "nested graphs are not read"),
        (xml("<hyperedge/>"), "hyperedges"),
        (xml("<node id='a'><port name='p'/></node>"), "ports"),
        (xml("<node id='a'><edge/></node>"), "<edge> must not be inside <node>"),
        (xml("\n<node/>"), "line 2: a node without an id"),
        (xml(NODES + "\n<node id='a'/>"), "line 2: a second node with the id 'a'"),
        (xml(NODES + "\n<edge target='a'\n/>"), "line 2: an edge without a source"),
        (xml("\n<edge source='a' target='z'/>" + NODES), "f: an edge names the node 'z', which is"),
        (
            xml("<node id='a'/><node id='a2'/><edge source='a' target='None'/>"),
            "an edge names the node 'None', which is not declared",
        ),
        (
            xml("<node id='a'><data key='k'/></node>"),
            "networkx: Bad GraphML data: no key k",
        ),
        (xml("", "<key id='w'/>"), "cannot be read by networkx: Unknown key for id w"),
        (xml("", "<key id='w' attr.name='w'/>\n" * 2), "line 2: a second <key> with the id 'w'"),
        (
            xml("", "<key id='w' attr.name='w'><default>-1</default></key>"),
            "the <key> 'w' has a default for all kinds of elements",
        ),
        (
            xml(NODES + "<edge source='a' target='b'/>", WEIGHT_OF_MINUS_1),
            "the edge from 'a' to 'b' has the weight '-1.0': a weight must be a finite number ≥ 0",
        ),
        (
            xml("<x:node xmlns:x='elsewhere' id='a'/>" + NODES.replace("'a'", "'c'")),
            "the node 'a' is in another namespace than <graphml>",
        ),
        (
            xml("<node id='a'><data key='w'>x7</data></node>", WEIGHT.replace("double", "int")),
            "cannot be read by networkx: invalid literal for int",
        ),
        (
            xml(NODES + "<edge source='a' target='b' directed='true'/>"),
            "cannot be read by networkx: directed=true edge found in undirected graph",
        ),
        (
            xml(NODES + "<edge source='a' target='b'><data key='k'>1</data></edge>" * 2, KEY),
            "of its 2 edges networkx tells 1 apart: give each an id of its own, or none",
        ),
        (f"<?xml version='1.0' encoding='{'x' * 9999}'?><graphml/>", "the encoding cannot be read"),
        ("<?xml version='1.0' encoding='euc_jp'?><graphml/>", "the encoding cannot be read"),
        (xml(f"<desc>{'<x>' * 1001}"), "nested more than 1000 deep"),
        ("graph [ x", "cannot be read by networkx: expected an int, float, string or '['"),
        ("graph [ node [ id 1 ]\n", "cannot be read by networkx: expected ']', found EOF"),
        ("graph [ node [ id 1 ] ]\n]", "cannot be read by networkx: expected EOF"),
        (f"graph [ {GML_NODES} ]\ngraph [ ]", "input contains more than one graph"),
        ("graph [ node [ id 1 id 2 ] ]", "cannot be read by networkx"),
        ("graph [ node [ id [ x 1 ] ] ]", "cannot be read by networkx"),
        ("graph [\nnode [\nlabel 1 ] ]", "node #0 has no 'id' attribute"),
        (f"graph [ {GML_NODES} node [ id 1 ] ]", "node id 1 is duplicated"),
        ('graph [ node [ id 1 ] node [ id "1" ] ]', "a second node with the id '1'"),
        ("graph [ ]", "f: the graph has no nodes"),
        (
            f"graph [\nedge [\nsource 1 target 3 ] {GML_NODES} ]",
            "edge #0 has undefined target 3",
        ),
        (f"graph [ edge [ source 1 ] {GML_NODES} ]", "edge #0 has no 'target' attribute"),
        ("graph [ node [ id 1 x [ " * 2000, "f: lists are nested too deep"),
        ('graph [ node [ id 1 label "&#55296;" ] ]', "'\\ud800' has half a character"),
        (b"graph [ node [ id 1 ]\n label '\xff' ]", "line 2: not UTF-8 text"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_reason(text, what):
    if "half a character" in what:
        Path("f").write_text(text)
        with pytest.raises(GraphError, match=re.escape(what)):
            read_graph("f")
        return
    assert what in said(text)


@pytest.mark.parametrize("weight", ["-1", "nan", "inf", "1e999", "heavy", "1_0", "0x1", ""])
def test_a_weight_that_is_none_is_refused_by_its_edge(weight):
    data, pair = f"<data key='w'>{weight}</data>", f'weight "{weight}"'
    key = WEIGHT.replace("double", "string")
    text = xml(f"{NODES}\n<edge source='a' target='b'>{data}</edge>", key)
    assert f"f: the edge from 'a' to 'b' has the weight '{weight}'" in said(text)
    assert "a second value of the <key> 'w'" in said(text.replace(data, data * 2))
    number = xml(f"{NODES}\n<edge source='a' target='b'>{data}</edge>", WEIGHT)
    if weight != "1_0":  # which is ten to Python, and so to networkx where a number is declared
        assert re.search("has the weight|could not convert string to float", said(number))
    text = f"graph [ {GML_NODES}\nedge [ source 1 target 2 {pair} ] ]"
    assert f"f: the edge from '1' to '2' has the weight '{weight}'" in said(text)


def test_a_weight_that_is_given_twice_is_refused():
    edge = "edge [ source 1 target 2 weight 1 weight 2 ]"
    assert "has two values for its weight" in said(f"graph [ {GML_NODES} {edge} ]")


@pytest.mark.parametrize(
    "namespace",
    ["", "http://www.gexf.net/1.3", "http://www.gexf.net/1.1draft", "http://www.gexf.net/1.2draft"],
)
@pytest.mark.parametrize("prefix", ["", "g"])
def test_every_namespace_is_read(namespace, prefix):
    if prefix and not namespace:
        return
    colon = f"{prefix}:" if prefix else ""
    name = f" xmlns{':' if prefix else ''}{prefix}='{namespace}'" if namespace else ""
    text = (
        f"<?xml version='1.0'?><!-- a <gexf xmlns='x'> --><{colon}gexf a='>'{name} version='1'>"
        f"<{colon}graph><{colon}nodes><{colon}node id='a'/><{colon}node id='b'/></{colon}nodes>"
        f"<{colon}edges><{colon}edge source='a' target='b' weight='2'/></{colon}edges>"
        f"</{colon}graph></{colon}gexf>"
    )
    graph = graph_of(text)
    assert (graph.nodes, edges(graph)) == (["a", "b"], [("a", "b", 2.0)])
    other = text.replace("gexf", "graphml").replace(" weight='2'", "")
    for part in ("nodes>", "edges>"):
        other = other.replace(f"<{colon}{part}", "").replace(f"</{colon}{part}", "")
    assert graph_of(other)[:3] == (["a", "b"], ["a"], ["b"])


def test_parallel_edges_all_count_whatever_their_ids():
    pair = "<edge id='e' source='a' target='b'><data key='w'>2</data></edge>"
    text = xml(NODES + pair * 2 + pair.replace(" id='e'", ""), WEIGHT)
    Path("f").write_text(text)
    assert graph_of(text).weight == [2.0] * 3
    assert read_graph("f").degrees.tolist() == [6.0, 6.0]
    both = "edge [ source 1 target 2 weight 2 ] edge [ source 2 target 1 weight 3 ]"
    for flag in ("", "multigraph 0", "multigraph 1", "directed 1"):
        assert sum(graph_of(f"graph [ {flag} {GML_NODES} {both} ]").weight) == 5.0


def test_defaults_are_those_of_the_file():
    keys = (
        "<key id='w' for='edge' attr.name='Weight' attr.type='double'><default>3</default></key>"
        "<key id='c' for='node' attr.name='class' attr.type='string'><default>x</default></key>"
    )
    text = xml(
        "<node id='a'><data key='c'>y</data></node><node id='b'/><node id='c'/>"
        "<edge source='a' target='b'/><edge source='b' target='c'><data key='w'>1</data></edge>",
        keys,
    )
    graph = graph_of(text)
    assert (graph.weight, graph.column("class")) == ([3.0, 1.0], ["y", "x", "x"])
    assert read_labels("f", read_graph("f")) == {"a": "y", "b": "x", "c": "x"}


def test_what_is_drawn_beside_a_node_is_no_label_unless_it_is_asked_for():
    nodes = "<node id='a' label='a'/><node id='b' label='b'/>"
    text = f"<gexf><graph><nodes>{nodes}</nodes></graph></gexf>"
    Path("f").write_text(text)
    with pytest.raises(IsothermError, match="not clear which attribute of the nodes is the label"):
        read_labels("f", read_graph("f"))
    assert read_labels("f", read_graph("f"), label="label") == {"a": "a", "b": "b"}
    named = "<attributes class='node'><attribute id='0' title='label' type='string'/></attributes>"
    with pytest.raises(GraphError, match="an attribute of nodes is called 'label', as is what"):
        graph_of(text.replace("<nodes>", f"{named}<nodes>"))


def test_edges_that_count_twice_are_refused():
    text = (
        "<gexf><graph defaultedgetype='directed'><nodes><node id='a'/><node id='b'/></nodes><edges>"
        "<edge source='a' target='b' type='mutual'/></edges></graph></gexf>"
    )
    assert "an edge of type 'mutual' is not read" in said(text)


def test_attributes_of_their_own_take_no_table():
    n = 3000
    own = " ".join(f"node [ id {i} a{i} 1 ]" for i in range(n))
    graph = graph_of(f"graph [ {own} ]")
    assert (len(graph.nodes), len(graph.attributes())) == (n, n)
    with pytest.raises(IsothermError, match=r"The attributes are: 'a0', .*, …$") as caught:
        read_labels("f", read_graph("f"))
    assert len(str(caught.value)) < 1000


BEGINNINGS = {
    "graphml": b"<graphml>",
    "gexf": b"<gexf>",
    "gml": b"graph [",
    "json": b'{"nodes": [',
}


@pytest.mark.parametrize("kind", BEGINNINGS)
@pytest.mark.parametrize("packed", [False, True])
def test_memory_is_asked_for_before_a_file_is_read(kind, packed, monkeypatch):
    monkeypatch.setattr("isotherm.read.source.free_memory", lambda: 10**8)
    if not packed:  # whose size is known only as it is unpacked
        for reader in ("read_graphml", "read_gexf", "parse_gml"):
            monkeypatch.setattr(f"networkx.{reader}", lambda *_, **__: pytest.fail("it was read"))
    data = BEGINNINGS[kind] + b" " * 12_000_000
    Path("f").write_bytes(gzip.compress(data, 1) if packed else data)
    with pytest.raises(NotEnoughMemory, match=r"reading f, .* takes about .* is free: save it as"):
        read_graph("f")


@pytest.mark.parametrize(("start", "most"), [("<graphml a='", 2 << 20), ("<graphml><!--", 1 << 25)])
def test_a_part_that_never_ends_is_refused_before_it_is_all_read(start, most):
    Path("f").write_bytes(start.encode() + b"x" * (1 << 26))
    with open_source("f") as source:
        with pytest.raises(GraphError, match="f, line 1: "):
            source.format.read_contents(source)
        assert source.n_read <= most


GRAPHML = xml(
    "<node id='a'><data key='c'>red</data></node><node id='b'/><edge source='a' target='b'>"
    "<data key='w'>0.5</data></edge>\n<edge source='b' target='b'/>",
    f"{WEIGHT}<key id='c' for='node' attr.name='c'><default>x</default></key>",
)
GML = """graph [ node [ id 1 label "é &quot;" ] # first
node [ id 2 label "b" c [ d 1 ] ] edge [ source 1 target 2 weight 0.5 ] edge [ source 2 target 2 ] ]
"""
GEXF = """<gexf version="1.2"><graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="c" type="string"><default>x</default></attribute>
</attributes><nodes><node id="a" label="A"><attvalues><attvalue for="0" value="y"/></attvalues>
</node><node id="b"/></nodes><edges><edge id="0" source="a" target="b" weight="0.5"/>
<edge source="b" target="b"/></edges></graph></gexf>"""
ODD = "<!DOCTYPE><port/><!--<![CDATA[]]>"
TOKENS = re.findall(r"<[^>]*>|\w+|\s+|\S", f"{GRAPHML}{GML}{GEXF}{DTD}{ODD}")
TOKENS += ["<?xml version='1.0' encoding='utf-16'?>", "9" * 5000, "-1", "nan", "&#999999;", "\0"]


def accident(rng, data):
    i = int(rng.integers(len(data) + 1))
    j = [i, i + 1, i + int(rng.integers(30)), max(i, len(data) - i)][rng.integers(4)]
    token = TOKENS[rng.integers(len(TOKENS))].encode()
    middle = [b"", rng.bytes(1), rng.bytes(3), token, data[i:j] * 2, token + data[i:j]]
    return data[:i] + middle[rng.integers(len(middle))] + (data[j:] if rng.random() < 0.95 else b"")


@pytest.mark.parametrize("text", [GRAPHML, GML, GEXF])
def test_any_bytes_are_a_graph_or_an_error_that_names_the_file(text):
    rng = np.random.default_rng(0)
    n_read = 0
    for n_accidents in [1, 1, 2, 5] * 250:
        data = text.encode()
        for _ in range(n_accidents):
            data = accident(rng, data)
        Path("f").write_bytes(data)
        try:
            with open_source("f") as source:
                if source.format.read_contents is None:
                    continue
                graph = source.format.read_contents(source)
        except IsothermError as error:
            assert re.match(r"f(, line \d+)?[: ]", str(error))  # noqa: PT017
            continue
        n_read += 1
        assert {*graph.source, *graph.target} <= set(graph.nodes)
        assert len(set(graph.nodes)) == len(graph.nodes) > 0
        assert len(graph.source) == len(graph.target) == len(graph.weight or graph.source)
        assert all(len(graph.column(key)) == len(graph.nodes) for key in graph.attributes())
    assert 50 < n_read < 950
