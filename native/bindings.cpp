// isotherm._core: the functions of the core with NumPy arrays for pointers. Checks shapes and
// types; what the numbers mean is checked in Python, before they get here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "build.hpp"
#include "descent.hpp"
#include "factor.hpp"
#include "judge.hpp"
#include "kernels.hpp"
#include "names.hpp"
#include "proof.hpp"
#include "reach.hpp"
#include "sources.hpp"
#include "threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace isotherm {
namespace {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Python before 3.14 ends a thread that asks for its lock while the interpreter ends: it unwinds the
// thread's stack, which from a destructor aborts the process. Such a thread sleeps here until the
// process is gone, as all do from 3.14 on.
template <class Take>
auto taken(Take take) {
    try {
        return take();
    } catch (...) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

bool asked_to_stop() {
    const PyGILState_STATE state = taken([] { return PyGILState_Ensure(); });
    const bool stop = PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return stop;
}

class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    ~Unlocked() {
        taken([this] { PyEval_RestoreThread(state_); });
    }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

private:
    PyThreadState* state_;
};

// Runs without the interpreter's lock; Ctrl-C comes out as KeyboardInterrupt.
template <class Body>
auto unlocked(Body body) {
    try {
        const Unlocked release;
        return body();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

void require(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}

const double* weights_or_null(const nb::object& weights, std::size_t length) {
    if (weights.is_none()) return nullptr;
    const auto array = nb::cast<Array<const double>>(weights);
    require(array.shape(0) == length, "weights and entries differ in number");
    return array.data();
}

Graph view(const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const nb::object& weights) {
    require(start.shape(0) >= 1, "start must have one entry more than there are nodes");
    const auto n = static_cast<std::int64_t>(start.shape(0)) - 1;
    const Graph graph{n, start.data(), ends.data(), weights_or_null(weights, ends.shape(0))};
    require(graph.start[0] == 0 && graph.n_entries() == static_cast<std::int64_t>(ends.shape(0)),
            "start does not fit ends");
    return graph;
}

template <class T>
nb::object give(Buffer<T>&& buffer, std::int64_t count) {
    auto* const kept = new Buffer<T>(std::move(buffer));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(
        kept->get(), {static_cast<std::size_t>(count)}, owner));
}

// --- building -------------------------------------------------------------------------------------

template <class Index>
nb::tuple make_graph(std::int64_t n_nodes, const Array<const Index>& source,
                     const Array<const Index>& target, const nb::object& weights, int threads) {
    const std::size_t m = source.shape(0);
    require(target.shape(0) == m, "source and target differ in length");
    require(n_nodes >= 0 && n_nodes < (std::int64_t{1} << 31) - 1, "too many nodes");
    const double* const w = weights_or_null(weights, m);
    OwnGraph graph = unlocked([&] {
        return from_edges<Index>(n_nodes, static_cast<std::int64_t>(m), source.data(),
                                 target.data(), w, threads);
    });
    return nb::make_tuple(
        give(std::move(graph.start), n_nodes + 1), give(std::move(graph.ends), graph.n_entries),
        w ? give(std::move(graph.weights), graph.n_entries) : nb::object(nb::none()));
}

nb::dict inspect_matrix(const Array<const std::int64_t>& start,
                        const Array<const std::int32_t>& ends, const nb::object& weights,
                        int threads) {
    const Graph matrix = view(start, ends, weights);
    const Findings found = unlocked([&] { return inspect(matrix, threads); });
    nb::dict result;
    result["sorted"] = found.sorted;
    result["symmetric"] = found.symmetric;
    result["ones"] = found.ones;
    result["zeros"] = found.zeros;
    result["faulty"] = found.faulty;
    return result;
}

template <class Offset>
void encode_names(Names& names, const Array<const Offset>& start,
                  const Array<const std::uint8_t>& bytes, const Array<std::int32_t>& numbers,
                  int threads) {
    const std::size_t count = numbers.shape(0);
    require(start.shape(0) == count + 1, "start must have one entry more than there are texts");
    require(start.data()[0] >= 0 && static_cast<std::size_t>(start.data()[count]) <= bytes.shape(0),
            "start does not fit bytes");
    const Texts<Offset> texts{static_cast<std::int64_t>(count), start.data(),
                              reinterpret_cast<const char*>(bytes.data())};
    unlocked([&] { names.encode(texts, numbers.data(), threads); });
}

// The names as Arrow keeps them: where each starts, and their bytes.
nb::tuple texts_of(const Names& names) {
    Buffer<std::int64_t> start(names.count() + 1);
    Buffer<std::uint8_t> bytes(names.n_bytes());
    std::copy(names.start(), names.start() + names.count() + 1, start.get());
    std::copy(names.bytes(), names.bytes() + names.n_bytes(), bytes.get());
    return nb::make_tuple(give(std::move(start), names.count() + 1),
                          give(std::move(bytes), names.n_bytes()));
}

// --- solving --------------------------------------------------------------------------------------

const Kernels& kernels_named(const std::string& name) {
    const Kernels* const found = find_kernels(name.c_str());
    require(found != nullptr, "this machine has no such instruction set");
    return *found;
}

// The instruction sets this machine has, the best first.
std::vector<std::string> instruction_sets() {
    std::vector<std::string> found;
    for (const char* name : {"avx512", "avx2", "plain"}) {
        if (find_kernels(name)) found.emplace_back(name);
    }
    return found;
}

// Keeps the arrays alive that the problem points to.
struct BoundProblem {
    Array<const std::int64_t> start;
    Array<const std::int32_t> ends;
    nb::object weights;
    Array<const double> degrees;
    nb::object ties;
    Problem problem;

    BoundProblem(Array<const std::int64_t> start_, Array<const std::int32_t> ends_,
                 nb::object weights_, const Array<const std::uint8_t>& free,
                 Array<const double> degrees_, nb::object ties_, double leak, bool root,
                 bool peeling, int threads, const std::string& simd)
        : start(start_),
          ends(ends_),
          weights(weights_),
          degrees(degrees_),
          ties(ties_),
          problem(checked(start_, ends_, weights_, free, degrees_), free.data(), degrees_.data(),
                  weights_or_null(ties_, degrees_.shape(0)), leak, root, peeling, threads,
                  kernels_named(simd)) {}

    static Graph checked(const Array<const std::int64_t>& start,
                         const Array<const std::int32_t>& ends, const nb::object& weights,
                         const Array<const std::uint8_t>& free,
                         const Array<const double>& degrees) {
        const Graph graph = view(start, ends, weights);
        const auto n = static_cast<std::size_t>(graph.n_nodes);
        require(free.shape(0) == n && degrees.shape(0) == n, "one entry per node");
        return graph;
    }
    std::size_t n_nodes() const { return static_cast<std::size_t>(problem.M().graph.n_nodes); }

    double* exits(const nb::object& h) const {
        if (h.is_none()) return nullptr;
        const auto array = nb::cast<Array<double>>(h);
        require(array.shape(0) == n_nodes(), "h must have one entry per node");
        return array.data();
    }
    template <class T>
    Columns<T> columns(const Matrix<T>& X, int first, int count) const {
        require(X.shape(0) == n_nodes(), "X must have one row per node");
        require(first >= 0 && count >= 0 && count <= max_width &&
                    static_cast<std::size_t>(first + count) <= X.shape(1),
                "no such columns");
        return {X.data() + first, static_cast<std::int64_t>(X.shape(1)), count};
    }
};

// Row k of `rows` is put in at nodes[k].
Sources make_sources(const BoundProblem& bound, const Array<const std::int32_t>& nodes,
                     const Matrix<const double>& rows) {
    const auto n = static_cast<std::int32_t>(bound.n_nodes());
    require(rows.shape(0) == nodes.shape(0) && rows.shape(1) > 0, "one row per node");
    for (std::size_t k = 0; k < nodes.shape(0); ++k) {
        require(nodes.data()[k] >= 0 && nodes.data()[k] < n, "no such node");
        require(k == 0 || nodes.data()[k - 1] < nodes.data()[k], "nodes must increase");
    }
    return Sources(n, bound.problem.peel(), static_cast<std::int64_t>(nodes.shape(0)),
                   nodes.data(), rows.data(), static_cast<std::int64_t>(rows.shape(1)));
}

void require_columns(const Sources* sources, int first, int count) {
    require(!sources || (first >= 0 && first + count <= sources->columns()),
            "the sources have no such columns");
}

// Problem::settle or Problem::hang.
template <class T, auto how>
void settle(const BoundProblem& bound, const Matrix<T>& X, int first,
            const Array<const double>& low, const Array<const double>& high, const nb::object& h,
            const Sources* sources) {
    const auto columns = bound.columns<T>(X, first, static_cast<int>(low.shape(0)));
    require(high.shape(0) == low.shape(0), "low and high differ in length");
    double* const exits = bound.exits(h);
    require_columns(sources, first, columns.count);
    const Heat passed = sources ? sources->passed(first) : Heat{};
    unlocked([&] { (bound.problem.*how)(columns, exits, low.data(), high.data(), passed); });
}

struct BoundDescent {
    const BoundProblem& bound;
    int columns;
    bool exits, hidden;
    Descent descent;

    BoundDescent(const BoundProblem& bound_, int columns_, bool exits_, bool hidden_,
                 const Sources* sources, int first)
        : bound(bound_),
          columns(checked(columns_, exits_, hidden_, sources, first)),
          exits(exits_),
          hidden(hidden_),
          descent(bound_.problem, columns_, exits_, hidden_, sources, first) {}

    static int checked(int columns, bool exits, bool hidden, const Sources* sources, int first) {
        require(columns >= 0 && columns + exits >= 1 && columns + exits <= max_width,
                "between 1 and 16 lanes");
        require_columns(sources, first, columns + hidden);
        return columns;
    }
    double* own_exits(const nb::object& h) const {
        double* const found = bound.exits(h);
        require(found == nullptr || exits, "there is no lane for h");
        return found;
    }
    // The levels of the columns, and that of h.
    template <class T>
    nb::tuple weigh(const Matrix<T>& X, int first, const Array<const double>& scale,
                    const nb::object& h) {
        const int count = columns + hidden;
        const auto into = bound.columns<T>(X, first, count);
        require(scale.shape(0) == static_cast<std::size_t>(count), "one scale per column");
        double* const exit_times = own_exits(h);
        const Levels found =
            unlocked([&] { return descent.weigh<T>(into, exit_times, scale.data()); });
        return nb::make_tuple(std::vector<double>(found.columns, found.columns + count),
                              found.exits);
    }
    template <class T>
    void begin(const Matrix<T>& X, int first, const Array<const double>& scale) {
        const auto from = bound.columns<T>(X, first, columns);
        require(scale.shape(0) >= static_cast<std::size_t>(columns), "one scale per column");
        unlocked([&] { descent.begin<T>(from, scale.data()); });
    }
    template <class T>
    std::vector<float> step(const Matrix<T>& X, int first, const nb::object& h) {
        const auto into = bound.columns<T>(X, first, columns);
        double* const found = own_exits(h);
        float levels[max_width + 1];
        unlocked([&] { descent.step<T>(into, found, levels); });
        std::vector<float> result(levels, levels + descent.lanes());
        result.push_back(levels[max_width]);
        return result;
    }
};

// --- proving --------------------------------------------------------------------------------------

// From None or (nodes, weights, values, roundings).
struct BoundTies {
    std::vector<std::int32_t> row_of;
    nb::object kept;
    Ties ties;

    BoundTies(const nb::object& given, std::size_t n_nodes, std::size_t columns) : kept(given) {
        if (given.is_none()) return;
        const auto parts = nb::cast<nb::tuple>(given);
        require(parts.size() == 4, "ties are nodes, weights, values and roundings");
        const auto nodes = nb::cast<Array<const std::int32_t>>(parts[0]);
        const auto weights = nb::cast<Array<const double>>(parts[1]);
        const auto values = nb::cast<Matrix<const double>>(parts[2]);
        const std::size_t count = nodes.shape(0);
        require(weights.shape(0) == count && values.shape(0) == count, "one entry per tie");
        require(values.shape(1) == columns, "as many columns as X");
        row_of.assign(n_nodes, -1);
        for (std::size_t k = 0; k < count; ++k) {
            const std::int32_t i = nodes.data()[k];
            require(i >= 0 && static_cast<std::size_t>(i) < n_nodes && row_of[i] < 0,
                    "no such node, or one that is tied twice");
            row_of[i] = static_cast<std::int32_t>(k);
        }
        ties = {row_of.data(), weights.data(), values.data(), nb::cast<double>(parts[3])};
    }
};

template <class T>
Evidence prove_all(const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
                   const nb::object& weights, const Array<const std::uint8_t>& free, double leak,
                   const Matrix<const T>& X, const Array<const double>& h, const nb::object& ties,
                   int threads, const std::string& simd) {
    const Graph graph = view(start, ends, weights);
    const auto n = static_cast<std::size_t>(graph.n_nodes);
    require(free.shape(0) == n && X.shape(0) == n && h.shape(0) == n, "one entry per node");
    require(X.shape(1) > 0, "at least one column");
    const BoundTies tied(ties, n, X.shape(1));
    const Claim<T> claim{graph, free.data(), leak, X.data(), static_cast<std::int64_t>(X.shape(1)),
                         h.data(), tied.ties};
    const Prover& prover = kernels_named(simd).prover();
    return unlocked([&] { return prove<T>(claim, threads, prover); });
}

// --- judging --------------------------------------------------------------------------------------

Rule rule_of(std::size_t n_nodes, std::size_t n_classes, const Array<const std::int64_t>& seeds,
             const Array<const double>& node) {
    require(seeds.shape(0) == n_nodes && node.shape(0) == n_nodes, "one entry per node");
    Rule rule{};
    rule.n_nodes = static_cast<std::int64_t>(n_nodes);
    rule.n_classes = static_cast<int>(n_classes);
    rule.seeds = seeds.data();
    rule.node = node.data();
    return rule;
}

// Where a verdict goes, an entry per node.
struct BoundVerdict {
    Array<std::int64_t> codes;
    Array<double> margins;
    Array<std::uint8_t> certified, tied;

    Verdict view(std::size_t n) const {
        require(codes.shape(0) == n && margins.shape(0) == n && certified.shape(0) == n &&
                    tied.shape(0) == n,
                "one entry per node");
        return {codes.data(), margins.data(), certified.data(), tied.data()};
    }
};

// Without a verdict, only the excess is wanted.
template <class T>
double judge_all(const Matrix<const T>& temperatures, const Array<const std::int64_t>& seeds,
                 const Array<const double>& node, const Array<const double>& column,
                 const Array<const double>& span, const Array<const double>& shift,
                 const Array<const double>& scale, const Array<const double>& slope,
                 const Array<const double>& growth, const Array<const double>& offset,
                 double mean_error, double tol, const BoundVerdict* into, int threads) {
    const std::size_t n = temperatures.shape(0), K = temperatures.shape(1);
    Rule rule = rule_of(n, K, seeds, node);
    require(K > 0, "at least one class");
    const auto of_class = [&](const Array<const double>& numbers) {
        require(numbers.shape(0) == K, "one number per class");
        return numbers.data();
    };
    rule.column = of_class(column);
    rule.span = of_class(span);
    rule.shift = of_class(shift);
    rule.scale = of_class(scale);
    rule.slope = of_class(slope);
    rule.growth = of_class(growth);
    rule.offset = of_class(offset);
    rule.mean_error = mean_error;
    rule.tol = tol;
    const Verdict verdict = into ? into->view(n) : Verdict{};
    return unlocked([&] { return judge<T>(rule, temperatures.data(), verdict, threads); });
}

template <class T>
nb::tuple sum_all(const Matrix<const T>& temperatures, const Array<const std::int64_t>& seeds,
                  const Array<const double>& node, int threads) {
    const std::size_t K = temperatures.shape(1);
    const Rule rule = rule_of(temperatures.shape(0), K, seeds, node);
    std::vector<double> sums(2 * K), errors(2);
    std::vector<std::int64_t> counts(2);
    unlocked([&] {
        sum_up<T>(rule, temperatures.data(), sums.data(), errors.data(), counts.data(), threads);
    });
    return nb::make_tuple(sums, errors, counts);
}

template <class T>
void bind_type(nb::module_& m, nb::class_<BoundProblem>& problem,
               nb::class_<BoundDescent>& descent) {
    problem
        .def("settle", &settle<T, &Problem::settle<T>>, "X"_a.noconvert(), "first"_a, "low"_a,
             "high"_a, "h"_a.none() = nb::none(), "sources"_a.none() = nb::none())
        .def("hang", &settle<T, &Problem::hang<T>>, "X"_a.noconvert(), "first"_a, "low"_a,
             "high"_a, "h"_a.none() = nb::none(), "sources"_a.none() = nb::none());
    descent
        .def("begin", &BoundDescent::begin<T>, "X"_a.noconvert(), "first"_a, "scale"_a)
        .def("weigh", &BoundDescent::weigh<T>, "X"_a.noconvert(), "first"_a, "scale"_a,
             "h"_a.none() = nb::none())
        .def("step", &BoundDescent::step<T>, "X"_a.noconvert(), "first"_a,
             "h"_a.none() = nb::none());
    m.def("prove", &prove_all<T>, "start"_a, "ends"_a, "weights"_a.none(), "free"_a, "leak"_a,
          "X"_a.noconvert(), "h"_a, "ties"_a.none(), "threads"_a, "simd"_a);
    m.def("judge", &judge_all<T>, "temperatures"_a.noconvert(), nb::kw_only(), "seeds"_a, "node"_a,
          "column"_a, "span"_a, "shift"_a, "scale"_a, "slope"_a, "growth"_a, "offset"_a,
          "mean_error"_a, "tol"_a, "into"_a.none(), "threads"_a);
    m.def("sum_up", &sum_all<T>, "temperatures"_a.noconvert(), "seeds"_a, "node"_a, "threads"_a);
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of isotherm; see isotherm.compiled.";
    nb::set_leak_warnings(false);  // threads may still be solving when a process ends
    set_poll(&asked_to_stop);
    m.def("instruction_sets", &instruction_sets);
    m.def("from_edges", &make_graph<std::int32_t>, "n_nodes"_a, "source"_a.noconvert(),
          "target"_a.noconvert(), "weights"_a.none(), "threads"_a);
    m.def("from_edges", &make_graph<std::int64_t>, "n_nodes"_a, "source"_a.noconvert(),
          "target"_a.noconvert(), "weights"_a.none(), "threads"_a);
    m.def("inspect", &inspect_matrix, "start"_a, "ends"_a, "weights"_a.none(), "threads"_a);
    m.def(
        "row_sums",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const nb::object& weights, const Array<double>& sums, int threads) {
            const Graph graph = view(start, ends, weights);
            require(sums.shape(0) + 1 == start.shape(0), "one sum per row");
            unlocked([&] { row_sums(graph, sums.data(), threads); });
        },
        "start"_a, "ends"_a, "weights"_a.none(), "sums"_a, "threads"_a);
    m.def(
        "reach",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const Array<std::uint8_t>& marked, int threads) {
            const Graph graph = view(start, ends, nb::none());
            require(marked.shape(0) + 1 == start.shape(0), "one mark per node");
            unlocked([&] { reach(graph, marked.data(), threads); });
        },
        "start"_a, "ends"_a, "marked"_a, "threads"_a);
    m.def(
        "components",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const Array<std::int32_t>& component, int threads) {
            const Graph graph = view(start, ends, nb::none());
            require(component.shape(0) + 1 == start.shape(0), "one component per node");
            return unlocked([&] { return components(graph, component.data(), threads); });
        },
        "start"_a, "ends"_a, "component"_a, "threads"_a);

    nb::class_<Names>(m, "Names")
        .def(nb::init<>())
        .def("encode", &encode_names<std::int32_t>, "start"_a.noconvert(), "bytes"_a, "numbers"_a,
             "threads"_a)
        .def("encode", &encode_names<std::int64_t>, "start"_a.noconvert(), "bytes"_a, "numbers"_a,
             "threads"_a)
        .def("texts", &texts_of)
        .def("__len__", &Names::count);

    nb::class_<Evidence>(m, "Evidence")
        .def_ro("level", &Evidence::level)
        .def_ro("rounding", &Evidence::rounding)
        .def_ro("relative", &Evidence::relative)
        .def_ro("high", &Evidence::high)
        .def_ro("minus_low", &Evidence::minus_low)
        .def_ro("least_degree", &Evidence::least_degree)
        .def_ro("greatest_degree", &Evidence::greatest_degree)
        .def_ro("least_exit", &Evidence::least_exit)
        .def_ro("greatest_exit", &Evidence::greatest_exit)
        .def_ro("n_nodes", &Evidence::n_nodes)
        .def_ro("stray", &Evidence::stray);
    nb::class_<BoundVerdict>(m, "Verdict")
        .def(nb::init<Array<std::int64_t>, Array<double>, Array<std::uint8_t>,
                      Array<std::uint8_t>>(),
             nb::kw_only(), "codes"_a, "margins"_a, "certified"_a, "tied"_a);
    nb::class_<BoundProblem> problem(m, "Problem");
    problem
        .def(nb::init<Array<const std::int64_t>, Array<const std::int32_t>, nb::object,
                      const Array<const std::uint8_t>&, Array<const double>, nb::object, double,
                      bool, bool, int, const std::string&>(),
             "start"_a, "ends"_a, "weights"_a.none(), "free"_a, "degrees"_a, "ties"_a.none(),
             "leak"_a, "root"_a, "peeling"_a, "threads"_a, "simd"_a)
        .def_prop_ro("n_peeled",
                     [](const BoundProblem& b) { return b.problem.peel().child.size(); });
    nb::class_<Sources>(m, "Sources");
    m.def("sources", &make_sources, "problem"_a, "nodes"_a, "rows"_a);
    nb::class_<Factor>(m, "Factor").def_prop_ro("n_entries", &Factor::n_entries);
    m.def(
        "factorise",
        [](const BoundProblem& bound) {
            return unlocked([&] { return std::make_shared<Factor>(bound.problem.M()); });
        },
        "problem"_a);
    nb::class_<BoundDescent> descent(m, "Descent");
    descent
        .def(nb::init<const BoundProblem&, int, bool, bool, const Sources*, int>(), "problem"_a,
             "columns"_a, "exits"_a, "hidden"_a, "sources"_a.none() = nb::none(), "first"_a = 0,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>())
        .def("rest", [](BoundDescent& self) { self.descent.rest(); })
        .def("multiply", [](BoundDescent& self) { unlocked([&] { self.descent.multiply(); }); })
        .def(
            "precondition",
            [](BoundDescent& self, std::shared_ptr<Factor> factor) {
                self.descent.precondition(std::move(factor));
            },
            "factor"_a);
    bind_type<float>(m, problem, descent);
    bind_type<double>(m, problem, descent);
}

}  // namespace isotherm
