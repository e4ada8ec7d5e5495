// isotherm._core: the functions of the core with NumPy arrays for pointers. Checks shapes and
// types; what the numbers mean is checked in Python, before they get here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "arithmetic.hpp"
#include "bad_graph.hpp"
#include "build.hpp"
#include "decision.hpp"
#include "freed.hpp"
#include "judge.hpp"
#include "kernels.hpp"
#include "lookup.hpp"
#include "multiply.hpp"
#include "names.hpp"
#include "problem.hpp"
#include "proof.hpp"
#include "reach.hpp"
#include "sources.hpp"
#include "steering.hpp"
#include "superpose.hpp"
#include "threads.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace isotherm {
namespace {

constexpr std::int64_t most_nodes = (std::int64_t{1} << 31) - 1;

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

// Runs without the interpreter's lock, in standard arithmetic; Ctrl-C comes out as KeyboardInterrupt.
template <class Body>
auto unlocked(Body body) {
    try {
        const Unlocked release;
        const StandardArithmetic standard;
        return body();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

// The core's own errors as the package's.
void raise_in_python(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const BadGraph& error) {
        const nb::object kind = nb::module_::import_("isotherm.errors").attr("GraphError");
        PyErr_SetString(kind.ptr(), error.what());
    }
}

void require(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}

const double* doubles_or_null(const nb::object& given, std::size_t length, const char* what) {
    if (given.is_none()) return nullptr;
    const auto array = nb::cast<Array<const double>>(given, false);
    require(array.shape(0) == length, what);
    return array.data();
}

const double* weights_or_null(const nb::object& weights, std::size_t length) {
    if (weights.is_none()) return nullptr;
    Array<const double> array;  // of a converted copy nothing would be left
    const bool fits = nb::try_cast(weights, array, false) && array.shape(0) == length;
    if (!fits) throw BadGraph("weights must be of float64, one for each entry");
    return array.data();
}

Graph view(const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const nb::object& weights) {
    const auto n = static_cast<std::int64_t>(start.shape(0)) - 1;
    const auto n_entries = static_cast<std::int64_t>(ends.shape(0));
    const Graph graph{n, start.data(), ends.data(), weights_or_null(weights, ends.shape(0))};
    const bool fits = n >= 0 && n < most_nodes && graph.start[0] == 0 && graph.start[n] == n_entries;
    if (!fits) throw BadGraph("start and ends of the graph do not fit each other");
    check_start(graph);
    return graph;
}

template <class T>
nb::object give(Buffer<T>&& buffer, std::int64_t count) {
    auto* const kept = new Buffer<T>(std::move(buffer));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(
        kept->get(), {static_cast<std::size_t>(count)}, owner));
}

// --- arrays that nobody can write to --------------------------------------------------------------

// As isotherm/read_only.py does it without the core: a fit has some hundred values looked at.
nb::object read_only(nb::handle value) {
    static PyObject* const array =
        nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
    if (PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(array))) {
        if (!nb::cast<bool>(value.attr("flags").attr("writeable"))) return nb::borrow(value);
        nb::object view = value[nb::ellipsis()];
        view.attr("setflags")(false);
        return view;
    }
    if (!PyTuple_Check(value.ptr())) return nb::borrow(value);
    nb::list parts;
    bool is_new = false;
    for (const nb::handle part : nb::borrow<nb::tuple>(value)) {
        parts.append(read_only(part));
        is_new |= !nb::handle(parts[parts.size() - 1]).is(part);
    }
    if (!is_new) return nb::borrow(value);
    return nb::hasattr(value, "_make") ? value.attr("_make")(parts) : nb::tuple(parts);
}

void seal(const nb::dict& values) {
    std::vector<std::pair<nb::object, nb::object>> sealed;
    for (const auto [name, value] : values) {
        nb::object found = read_only(value);
        if (!found.is(value)) sealed.emplace_back(nb::borrow(name), std::move(found));
    }
    for (const auto& [name, value] : sealed) values[name] = value;
}

// --- building -------------------------------------------------------------------------------------

nb::tuple rows_given(OwnGraph&& graph, bool weighted) {
    return nb::make_tuple(give(std::move(graph.start), graph.n_nodes + 1),
                          give(std::move(graph.ends), graph.n_entries),
                          weighted ? give(std::move(graph.weights), graph.n_entries)
                                   : nb::object(nb::none()));
}

template <class Index>
nb::tuple make_graph(std::int64_t n_nodes, const Array<const Index>& source,
                     const Array<const Index>& target, const nb::object& weights, int threads) {
    const std::size_t m = source.shape(0);
    require(target.shape(0) == m, "source and target differ in length");
    require(n_nodes >= 0 && n_nodes < most_nodes, "too many nodes");
    const double* const w = weights_or_null(weights, m);
    OwnGraph graph = unlocked([&] {
        return from_edges<Index>(n_nodes, static_cast<std::int64_t>(m), source.data(),
                                 target.data(), w, threads);
    });
    return rows_given(std::move(graph), w != nullptr);
}

nb::tuple make_rows(std::int64_t first_row, std::int64_t n_rows, std::int64_t n_nodes,
                     const Array<const std::int32_t>& rows, const Array<const std::int32_t>& ends,
                     const nb::object& weights, int threads) {
    const std::size_t m = rows.shape(0);
    require(ends.shape(0) == m, "rows and ends differ in length");
    require(first_row >= 0 && n_rows >= 0 && n_nodes < most_nodes &&
                first_row <= n_nodes - n_rows,
            "no such rows");
    const double* const w = weights_or_null(weights, m);
    return rows_given(unlocked([&] {
                          return from_entries(first_row, n_rows, n_nodes,
                                              static_cast<std::int64_t>(m), rows.data(),
                                              ends.data(), w, threads);
                      }),
                      w != nullptr);
}

nb::tuple scatter_edges(const Array<const std::int32_t>& source,
                        const Array<const std::int32_t>& target, const nb::object& weights,
                        const Array<const std::int32_t>& cuts) {
    const std::size_t m = source.shape(0);
    require(target.shape(0) == m, "source and target differ in length");
    require(cuts.shape(0) >= 2 && std::is_sorted(cuts.data(), cuts.data() + cuts.shape(0)),
            "cuts must increase");
    const double* const w = weights_or_null(weights, m);
    const auto n_ranges = static_cast<std::int64_t>(cuts.shape(0)) - 1;
    RangedEntries found = unlocked([&] {
        return scatter(static_cast<std::int64_t>(m), source.data(), target.data(), w, n_ranges,
                       cuts.data());
    });
    return nb::make_tuple(give(std::move(found.first), n_ranges + 1),
                          give(std::move(found.rows), found.count),
                          give(std::move(found.ends), found.count),
                          w ? give(std::move(found.weights), found.count) : nb::object(nb::none()));
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
    result["longest"] = found.longest;
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

// The same without a copy; the names start anew.
nb::tuple take_texts(Names& names) {
    Names::Taken taken = names.take();
    return nb::make_tuple(give(std::move(taken.start), taken.count + 1),
                          give(std::move(taken.bytes), taken.n_bytes));
}

// Of texts, or without `start` of numbers of 8 bytes.
Lookup lookup_of(const nb::object& start, const Array<const std::uint8_t>& bytes,
                 std::uint64_t key, std::int32_t* slots, std::size_t n_slots) {
    const auto n_bytes = static_cast<std::int64_t>(bytes.shape(0));
    Lookup table{n_bytes / 8,
                 nullptr,
                 reinterpret_cast<const char*>(bytes.data()),
                 n_bytes,
                 key,
                 static_cast<std::int64_t>(n_slots),
                 slots};
    if (!start.is_none()) {
        const auto array = nb::cast<Array<const std::int64_t>>(start, false);
        require(array.shape(0) >= 1, "start must have one entry more than there are texts");
        table.count = static_cast<std::int64_t>(array.shape(0)) - 1;
        table.start = array.data();
    }
    return table;
}

std::int64_t fill_lookup(const nb::object& start, const Array<const std::uint8_t>& bytes,
                         std::uint64_t key, const Array<std::int32_t>& slots) {
    const Lookup table = lookup_of(start, bytes, key, slots.data(), slots.shape(0));
    require(table.n_slots > table.count, "there must be more slots than names");
    return unlocked([&] { return fill(table); });
}

void find_names(const nb::object& start, const Array<const std::uint8_t>& bytes, std::uint64_t key,
                const Array<const std::int32_t>& slots, const nb::object& wanted_start,
                const Array<const std::uint8_t>& wanted, const Array<std::int64_t>& places) {
    const Lookup table = lookup_of(start, bytes, key, const_cast<std::int32_t*>(slots.data()),
                                   slots.shape(0));
    const std::size_t n = places.shape(0);
    const std::int64_t* from = nullptr;
    if (wanted_start.is_none()) {
        require(wanted.shape(0) == 8 * n, "8 bytes for each");
    } else {
        const auto array = nb::cast<Array<const std::int64_t>>(wanted_start, false);
        require(array.shape(0) == n + 1 &&
                    array.data()[n] <= static_cast<std::int64_t>(wanted.shape(0)),
                "start does not fit bytes");
        from = array.data();
    }
    unlocked([&] {
        find(table, static_cast<std::int64_t>(n), from,
             reinterpret_cast<const char*>(wanted.data()), places.data());
    });
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
                 bool peeling, int threads, const std::string& simd, bool reducing)
        : start(start_),
          ends(ends_),
          weights(weights_),
          degrees(degrees_),
          ties(ties_),
          problem(made(checked(start_, ends_, weights_, free, degrees_), free.data(),
                       degrees_.data(), weights_or_null(ties_, degrees_.shape(0)), leak, root,
                       peeling, threads, kernels_named(simd), reducing)) {}

    template <class... Arguments>
    static Problem made(const Graph& graph, const Arguments&... arguments) {
        return unlocked([&] { return Problem(graph, arguments...); });
    }
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

    template <class T>
    Columns<T> columns(const Matrix<T>& X, int first, int count) const {
        require(X.shape(0) == n_nodes(), "X must have one row per node");
        require(first >= 0 && count >= 0 && count <= max_width &&
                    static_cast<std::size_t>(first + count) <= X.shape(1),
                "no such columns");
        return {X.data() + first, static_cast<std::int64_t>(X.shape(1)), count,
                static_cast<std::size_t>(count) == X.shape(1)};
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
    const StandardArithmetic standard;
    return Sources(n, bound.problem.peel(), static_cast<std::int64_t>(nodes.shape(0)),
                   nodes.data(), rows.data(), static_cast<std::int64_t>(rows.shape(1)));
}

// h, an entry per node, kept alive.
struct BoundExits {
    Array<double> h;
    ExitTimes times;

    explicit BoundExits(Array<double> h_) : h(h_) { times.h = h_.data(); }
};

Preconditioner preconditioner_named(const std::string& name) {
    if (name == "diagonal") return Preconditioner::diagonal;
    if (name == "factor") return Preconditioner::factor;
    require(name == "auto", "no such preconditioner");
    return Preconditioner::automatic;
}

struct BoundSteering {
    BoundProblem& bound;
    Block block;
    Steering steering;

    BoundSteering(BoundProblem& bound_, BoundExits& exits, int first, int columns, bool with_exits,
                  bool hidden, const Sources* sources, const Array<const double>& low,
                  const Array<const double>& high, std::int64_t max_steps,
                  const std::string& preconditioner)
        : bound(bound_),
          block(checked(bound_, exits, {first, columns, with_exits, hidden}, sources, low, high)),
          steering(bound_.problem, exits.times, block, sources, low.data() + first,
                   high.data() + first,
                   units(low.data() + first, high.data() + first, exits.times.longest).data(),
                   max_steps, preconditioner_named(preconditioner)) {}

    // The units in which columns are iterated: their spans, where there are any.
    std::vector<double> units(const double* low, const double* high, double longest) const {
        std::vector<double> found;
        for (int k = 0; k < block.width(); ++k) {
            const double span = high[k] - low[k];
            const bool usual = span > 0 && span < std::numeric_limits<double>::infinity();
            found.push_back(usual ? span : std::max(1.0, longest));
        }
        return found;
    }

    static Block checked(const BoundProblem& bound, const BoundExits& exits, const Block& block,
                         const Sources* sources, const Array<const double>& low,
                         const Array<const double>& high) {
        const int lanes = block.columns + block.exits;
        require(block.columns >= 0 && lanes >= 1 && lanes <= max_width, "between 1 and 16 lanes");
        require(exits.h.shape(0) == bound.n_nodes(), "h must have one entry per node");
        const std::int64_t end = block.first + block.width();
        require(!sources || (block.first >= 0 && end <= sources->columns()),
                "the sources have no such columns");
        require(block.first >= 0 && end <= static_cast<std::int64_t>(low.shape(0)) &&
                    low.shape(0) == high.shape(0),
                "one number per column");
        return block;
    }
    template <class T>
    Columns<T> own(const Matrix<T>& X) const {
        return bound.columns<T>(X, block.first, block.width());
    }
    template <class T>
    State run(const Matrix<T>& X, bool cold, double tol, double look_at, double seconds,
              bool proven) {
        const Columns<T> columns = own(X);
        const Aim aim{tol, look_at, seconds, proven};
        return unlocked([&] { return steering.run<T>(columns, cold, aim); });
    }
    template <class T>
    void make_steps(const Matrix<T>& X, int steps) {
        const Columns<T> columns = own(X);
        unlocked([&] { steering.make_steps<T>(columns, steps); });
    }
    template <class T>
    void settle(const Matrix<T>& X, bool clip) {
        const Columns<T> columns = own(X);
        unlocked([&] { steering.settle<T>(columns, clip); });
    }
};

template <class T>
std::vector<Columns<T>> columns_of(const std::vector<BoundSteering*>& steerings,
                                   const Matrix<T>& X) {
    std::vector<Columns<T>> columns;
    for (const BoundSteering* one : steerings) columns.push_back(one->own<T>(X));
    return columns;
}

template <class T>
std::vector<State> run_all_beside(const std::vector<BoundSteering*>& steerings, const Matrix<T>& X,
                                  bool cold, double tol, double seconds, int threads) {
    const std::vector<Columns<T>> columns = columns_of<T>(steerings, X);
    std::vector<Steering*> cores;
    for (BoundSteering* one : steerings) cores.push_back(&one->steering);
    return unlocked(
        [&] { return run_beside<T>(cores, columns, cold, {tol, 0.0, seconds}, threads); });
}

template <class T>
void settle_all_beside(const std::vector<BoundSteering*>& steerings, const Matrix<T>& X,
                       int threads) {
    const std::vector<Columns<T>> columns = columns_of<T>(steerings, X);
    unlocked([&] {
        for_chunks(threads, static_cast<std::int64_t>(columns.size()),
                   [&](std::int64_t k) { steerings[k]->steering.settle<T>(columns[k], true); });
    });
}

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
        const auto nodes = nb::cast<Array<const std::int32_t>>(parts[0], false);
        const auto weights = nb::cast<Array<const double>>(parts[1], false);
        const auto values = nb::cast<Matrix<const double>>(parts[2], false);
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
                   const nb::object& drains, int threads, const std::string& simd, bool packed) {
    const Graph graph = view(start, ends, weights);
    const auto n = static_cast<std::size_t>(graph.n_nodes);
    require(free.shape(0) == n && X.shape(0) == n && h.shape(0) == n, "one entry per node");
    require(X.shape(1) > 0, "at least one column");
    const BoundTies tied(ties, n, X.shape(1));
    Claim<T> claim{graph, free.data(), leak, X.data(), static_cast<std::int64_t>(X.shape(1)),
                   h.data(), tied.ties};
    claim.drains = doubles_or_null(drains, n, "one drain per node");
    const Prover& prover = kernels_named(simd).prover();
    return unlocked([&] { return prove<T>(claim, threads, prover, packed); });
}

// Into `drains`, which is of zeros. Ties hold h at 0, one column.
void find_all_drains(const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
                     const nb::object& weights, const Array<const std::uint8_t>& free, double leak,
                     const Array<const double>& h, const nb::object& ties,
                     const Array<double>& drains, int threads, const std::string& simd) {
    const Graph graph = view(start, ends, weights);
    const auto n = static_cast<std::size_t>(graph.n_nodes);
    require(free.shape(0) == n && h.shape(0) == n && drains.shape(0) == n, "one entry per node");
    const BoundTies tied(ties, n, 1);
    const Claim<double> claim{graph, free.data(), leak, nullptr, 0, h.data(), tied.ties};
    const Prover& prover = kernels_named(simd).prover();
    unlocked([&] { find_drains(claim, threads, prover, drains.data()); });
}

// Of numbers that are no less than 0.
double greatest_of(const std::vector<double>& numbers) {
    return numbers.empty() ? 0.0 : *std::max_element(numbers.begin(), numbers.end());
}

template <class T>
double certify_all(const Evidence& found, const Matrix<const T>& X, const Array<const double>& h,
                   double leak, const Array<const std::int64_t>& boundary,
                   const Matrix<const double>& values, const Array<const double>& low,
                   const Array<const double>& high, const Array<const std::uint8_t>& unreached,
                   std::int64_t n_free, const Array<double>& nodes, const Array<double>& columns,
                   const Array<double>& spans) {
    const std::size_t n = X.shape(0), K = X.shape(1);
    require(std::all_of(boundary.data(), boundary.data() + boundary.shape(0),
                        [n](std::int64_t i) { return i >= 0 && i < static_cast<std::int64_t>(n); }),
            "no such node");
    require(h.shape(0) == n && unreached.shape(0) == n && nodes.shape(0) == n, "one entry per node");
    require(values.shape(0) == boundary.shape(0) && values.shape(1) == K, "a row per node held");
    require(found.level.size() == K && low.shape(0) == K && high.shape(0) == K &&
                columns.shape(0) == K && spans.shape(0) == K,
            "one number per column");
    Claim<T> claim{};
    claim.graph.n_nodes = static_cast<std::int64_t>(n);
    claim.leak = leak;
    claim.X = X.data();
    claim.columns = static_cast<std::int64_t>(K);
    claim.h = h.data();
    const StandardArithmetic standard;
    const Given given{static_cast<std::int64_t>(boundary.shape(0)), boundary.data(), values.data(),
                      low.data(), high.data(), unreached.data(), n_free};
    return certify<T>(claim, found, given, {nodes.data(), columns.data(), spans.data()});
}

// Into X; returns the level of each column.
template <class T>
std::vector<double> superpose_all(const Matrix<const T>& base, const Matrix<const T>& terms,
                                  const Matrix<const double>& shares,
                                  const Array<const double>& exits, const Array<const double>& low,
                                  const Array<const double>& high, const Matrix<T>& X,
                                  int threads, const std::string& simd) {
    const std::size_t n = base.shape(0), K = base.shape(1), m = terms.shape(0);
    require(X.shape(0) == n && X.shape(1) == K, "as many temperatures as there were");
    require(terms.shape(1) == n && exits.shape(0) == n, "one entry per node");
    require(shares.shape(0) == m && shares.shape(1) == K, "one share per term and column");
    require(low.shape(0) == K && high.shape(0) == K, "one number per column");
    const Superposition<T> sum{static_cast<std::int64_t>(n), static_cast<std::int64_t>(K),
                               static_cast<std::int64_t>(m), base.data(), terms.data(),
                               shares.data(), exits.data(), low.data(), high.data()};
    std::vector<double> level(K);
    const Superposer& superposer = kernels_named(simd).superposer();
    unlocked([&] { superpose<T>(sum, X.data(), level.data(), threads, superposer); });
    return level;
}

// A column of X for each node of `nodes`; into four arrays, see freed.hpp.
template <class T, class U>
void free_all(const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
              const nb::object& weights, double leak, const Array<const std::int64_t>& nodes,
              const Matrix<const double>& own, const Array<const double>& own_errors,
              const Matrix<const T>& temperatures, const Array<const double>& errors,
              const Matrix<const U>& X, const Array<const double>& factors,
              const Array<const double>& columns, const Array<const double>& spans,
              const Array<const double>& sums, double exits, std::int64_t n_summed,
              const Matrix<double>& freed, const Array<double>& freed_errors,
              const Matrix<double>& changes, const Array<double>& change_errors, int threads) {
    const Graph graph = view(start, ends, weights);
    const std::size_t n = start.shape(0) - 1, m = nodes.shape(0), K = own.shape(1);
    const auto one_each = [&](const auto& array) { return array.shape(0) == m; };
    const auto one_row_each = [&](const auto& matrix) {
        return matrix.shape(0) == m && matrix.shape(1) == K;
    };
    require(std::all_of(nodes.data(), nodes.data() + m,
                        [&](std::int64_t i) { return i >= 0 && i < graph.n_nodes; }),
            "no such node");
    require(one_row_each(own) && one_each(own_errors), "what each seed is held at");
    require(temperatures.shape(0) == n && temperatures.shape(1) == K && errors.shape(0) == n,
            "temperatures of all nodes, and their errors");
    require(X.shape(0) == n && X.shape(1) == m && factors.shape(0) == n && one_each(columns) &&
                one_each(spans) && one_each(sums),
            "a response for each seed");
    require(one_row_each(freed) && one_each(freed_errors) && one_row_each(changes) &&
                one_each(change_errors),
            "room for each seed");
    const HeldSeeds seeds{static_cast<std::int64_t>(m), static_cast<std::int64_t>(K), nodes.data(),
                          own.data(), own_errors.data()};
    const Known<T> known{temperatures.data(), errors.data()};
    const Responses<U> responses{X.data(),    factors.data(), columns.data(), spans.data(),
                                 sums.data(), exits,          n_summed};
    const Freed into{freed.data(), freed_errors.data(), changes.data(), change_errors.data()};
    unlocked([&] { free_each(graph, leak, seeds, known, responses, into, threads); });
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
    Array<std::uint8_t> certified, status;

    Verdict view(std::size_t n) const {
        require(codes.shape(0) == n && margins.shape(0) == n && certified.shape(0) == n &&
                    status.shape(0) == n,
                "one entry per node");
        return {codes.data(), margins.data(), certified.data(), status.data()};
    }
};

// Sums over more nodes than these, as `sum_up` gives them, and the number of all of these nodes.
Sums sums_given(const nb::tuple& sums, std::size_t n_classes) {
    require(sums.size() == 4, "sums of temperatures, of errors, counts and the number of nodes");
    const auto temperatures = nb::cast<Matrix<const double>>(sums[0]);
    const auto errors = nb::cast<Array<const double>>(sums[1]);
    const auto counts = nb::cast<Array<const std::int64_t>>(sums[2]);
    require(temperatures.shape(0) == 2 && temperatures.shape(1) == n_classes &&
                errors.shape(0) == 2 && counts.shape(0) == 2,
            "sums over all nodes and over free ones");
    Sums found;
    found.temperatures.assign(temperatures.data(), temperatures.data() + 2 * n_classes);
    std::copy_n(errors.data(), 2, found.errors);
    std::copy_n(counts.data(), 2, found.counts);
    found.n_nodes = nb::cast<std::int64_t>(sums[3]);
    return found;
}

// Fills in the verdict, and `means` over all nodes and over free ones, with bounds on their errors.
// Without sums they are those over these nodes.
template <class T>
void judge_all(const Matrix<const T>& temperatures, const Array<const std::int64_t>& seeds,
               const Array<const double>& node, const Array<const double>& column,
               const Array<const double>& span, int decision, const Array<const double>& shares,
               double tol, const nb::object& sums, const Matrix<double>& means,
               const BoundVerdict& into, int threads) {
    const std::size_t n = temperatures.shape(0), K = temperatures.shape(1);
    Rule rule = rule_of(n, K, seeds, node);
    require(K > 0, "at least one class");
    require(column.shape(0) == K && span.shape(0) == K && shares.shape(0) == K,
            "one number per class");
    require(means.shape(0) == 4 && means.shape(1) == K, "two means per class, and their errors");
    require(decision >= 0 && decision < n_decisions, "a decision the core knows, see `decisions`");
    rule.column = column.data();
    rule.span = span.data();
    rule.tol = tol;
    const bool given = !sums.is_none();
    const Sums wide = given ? sums_given(nb::cast<nb::tuple>(sums), K) : Sums{};
    const Verdict verdict = into.view(n);
    unlocked([&] {
        const T* const T_of = temperatures.data();
        const Decided decided(static_cast<Decision>(decision),
                              given ? wide : sum_up<T>(rule, T_of, threads), shares.data(), rule);
        std::copy(decided.means().begin(), decided.means().end(), means.data());
        judge<T>(rule, T_of, verdict, threads, best_kernels().leads());
    });
}

template <class T>
nb::tuple sum_all(const Matrix<const T>& temperatures, const Array<const std::int64_t>& seeds,
                  const Array<const double>& node, int threads) {
    const Rule rule = rule_of(temperatures.shape(0), temperatures.shape(1), seeds, node);
    const Sums sums = unlocked([&] { return sum_up<T>(rule, temperatures.data(), threads); });
    return nb::make_tuple(sums.temperatures, std::vector<double>(sums.errors, sums.errors + 2),
                          std::vector<std::int64_t>(sums.counts, sums.counts + 2));
}

template <class T, class U>
void bind_free_each(nb::module_& m) {
    m.def("free_each", &free_all<T, U>, "start"_a, "ends"_a, "weights"_a.none(), nb::kw_only(),
          "leak"_a, "nodes"_a, "own"_a, "own_errors"_a, "temperatures"_a.noconvert(), "errors"_a,
          "responses"_a.noconvert(), "factors"_a, "columns"_a, "spans"_a, "sums"_a, "exits"_a,
          "n_summed"_a, "freed"_a.noconvert(), "freed_errors"_a.noconvert(), "changes"_a.noconvert(),
          "change_errors"_a.noconvert(), "threads"_a);
}

template <class T>
void bind_type(nb::module_& m, nb::class_<BoundSteering>& steering) {
    steering
        .def("run", &BoundSteering::run<T>, "X"_a.noconvert(), nb::kw_only(), "cold"_a, "tol"_a,
             "look_at"_a, "seconds"_a, "proven"_a)
        .def("make_steps", &BoundSteering::make_steps<T>, "X"_a.noconvert(), "steps"_a)
        .def("settle", &BoundSteering::settle<T>, "X"_a.noconvert(), nb::kw_only(), "clip"_a);
    m.def("run_beside", &run_all_beside<T>, "steerings"_a, "X"_a.noconvert(), nb::kw_only(),
          "cold"_a, "tol"_a, "seconds"_a, "threads"_a);
    m.def("settle_beside", &settle_all_beside<T>, "steerings"_a, "X"_a.noconvert(), "threads"_a);
    m.def("prove", &prove_all<T>, "start"_a, "ends"_a, "weights"_a.none(), "free"_a, "leak"_a,
          "X"_a.noconvert(), "h"_a, "ties"_a.none(), "drains"_a.none(), "threads"_a, "simd"_a,
          nb::kw_only(), "packed"_a);
    m.def("certify", &certify_all<T>, "found"_a, "X"_a.noconvert(), "h"_a, nb::kw_only(), "leak"_a,
          "boundary"_a, "values"_a, "low"_a, "high"_a, "unreached"_a, "n_free"_a,
          "nodes"_a.noconvert(), "columns"_a.noconvert(), "spans"_a.noconvert());
    m.def("superpose", &superpose_all<T>, "base"_a.noconvert(), "terms"_a.noconvert(), "shares"_a,
          "exits"_a, "low"_a, "high"_a, "X"_a.noconvert(), "threads"_a, "simd"_a);
    bind_free_each<T, float>(m);
    bind_free_each<T, double>(m);
    m.def("judge", &judge_all<T>, "temperatures"_a.noconvert(), nb::kw_only(), "seeds"_a, "node"_a,
          "column"_a, "span"_a, "decision"_a, "shares"_a, "tol"_a, "sums"_a.none(), "means"_a.noconvert(),
          "into"_a, "threads"_a);
    m.def("sum_up", &sum_all<T>, "temperatures"_a.noconvert(), "seeds"_a, "node"_a, "threads"_a);
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of isotherm; see isotherm.compiled.";
    nb::set_leak_warnings(false);  // threads may still be solving when a process ends
    set_poll(&asked_to_stop);
    nb::register_exception_translator(&raise_in_python);
    m.def("instruction_sets", &instruction_sets);
    m.attr("decisions") = std::vector<std::string>(std::begin(decision_names), std::end(decision_names));
    m.def("read_only", &read_only, "value"_a.none());
    m.def("seal", &seal, "values"_a);
    m.def("is_reduced", &Problem::is_small, "n_entries"_a);
    m.def("from_edges", &make_graph<std::int32_t>, "n_nodes"_a, "source"_a.noconvert(),
          "target"_a.noconvert(), "weights"_a.none(), "threads"_a);
    m.def("from_edges", &make_graph<std::int64_t>, "n_nodes"_a, "source"_a.noconvert(),
          "target"_a.noconvert(), "weights"_a.none(), "threads"_a);
    m.def("from_entries", &make_rows, "first_row"_a, "n_rows"_a, "n_nodes"_a, "rows"_a, "ends"_a,
          "weights"_a.none(), "threads"_a);
    m.def("scatter", &scatter_edges, "source"_a, "target"_a, "weights"_a.none(), "cuts"_a);
    m.def("fill_lookup", &fill_lookup, "start"_a.none(), "bytes"_a, "key"_a, "slots"_a.noconvert());
    m.def("find_names", &find_names, "start"_a.none(), "bytes"_a, "key"_a, "slots"_a,
          "wanted_start"_a.none(), "wanted"_a, "places"_a.noconvert());
    m.def(
        "environment",
        [](const char* name) -> nb::object {
            const char* const value = std::getenv(name);
            return value ? nb::steal(PyUnicode_DecodeFSDefault(value)) : nb::none();
        },
        "name"_a, nb::sig("def environment(name: str) -> str | None"));
    m.def("processors", &usable_processors);
    m.def("inspect", &inspect_matrix, "start"_a, "ends"_a, "weights"_a.none(), "threads"_a);
    m.def(
        "value_ranges",
        [](const Matrix<const double>& values, const Array<double>& low, const Array<double>& high) {
            const std::size_t columns = values.shape(1);
            require(values.shape(0) > 0, "a row of values");
            require(low.shape(0) == columns && high.shape(0) == columns, "one number per column");
            const StandardArithmetic standard;
            return value_ranges(values.data(), static_cast<std::int64_t>(values.shape(0)),
                                static_cast<std::int64_t>(columns), low.data(), high.data());
        },
        "values"_a, "low"_a.noconvert(), "high"_a.noconvert());
    m.def(
        "row_sums",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const nb::object& weights, const Array<double>& sums, int threads) {
            const Graph graph = view(start, ends, weights);
            require(sums.shape(0) + 1 == start.shape(0), "one sum per row");
            unlocked([&] { row_sums(graph, sums.data(), threads); });
        },
        "start"_a, "ends"_a, "weights"_a.none(), "sums"_a.noconvert(), "threads"_a);
    m.def(
        "multiply",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const nb::object& weights, const Matrix<const float>& X, const Matrix<float>& into,
           int threads) {
            const Graph graph = view(start, ends, weights);
            require(X.shape(0) + 1 == start.shape(0), "one row per node");
            require(X.shape(1) == panel_width, "16 columns");
            require(into.shape(0) == X.shape(0) && into.shape(1) == X.shape(1), "equal shapes");
            unlocked([&] { multiply(graph, X.data(), into.data(), threads); });
        },
        "start"_a, "ends"_a, "weights"_a.none(), "X"_a.noconvert(), "into"_a.noconvert(),
        "threads"_a);
    m.def(
        "reach",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const Array<std::uint8_t>& marked, int threads) {
            const Graph graph = view(start, ends, nb::none());
            require(marked.shape(0) + 1 == start.shape(0), "one mark per node");
            unlocked([&] { reach(graph, marked.data(), threads); });
        },
        "start"_a, "ends"_a, "marked"_a.noconvert(), "threads"_a);
    m.def(
        "components",
        [](const Array<const std::int64_t>& start, const Array<const std::int32_t>& ends,
           const Array<std::int32_t>& component, int threads, std::int64_t first_ghost) {
            const Graph graph = view(start, ends, nb::none());
            require(component.shape(0) + 1 == start.shape(0), "one component per node");
            return unlocked(
                [&] { return components(graph, component.data(), threads, first_ghost); });
        },
        "start"_a, "ends"_a, "component"_a.noconvert(), "threads"_a, "first_ghost"_a = INT64_MAX);

    nb::class_<Names>(m, "Names")
        .def(nb::init<>())
        .def("encode", &encode_names<std::int32_t>, "start"_a.noconvert(), "bytes"_a, "numbers"_a.noconvert(),
             "threads"_a)
        .def("encode", &encode_names<std::int64_t>, "start"_a.noconvert(), "bytes"_a, "numbers"_a.noconvert(),
             "threads"_a)
        .def("texts", &texts_of)
        .def("take_texts", &take_texts)
        .def_prop_ro("size", &Names::size)
        .def("__len__", &Names::count);

    nb::class_<Evidence>(m, "Evidence")
        .def_ro("level", &Evidence::level)
        .def_ro("rounding", &Evidence::rounding)
        .def_ro("relative", &Evidence::relative)
        .def_ro("high", &Evidence::high)
        .def_ro("minus_low", &Evidence::minus_low)
        .def_prop_ro("greatest_rounding",
                     [](const Evidence& found) { return greatest_of(found.rounding); })
        .def_prop_ro("greatest_residual",
                     [](const Evidence& found) { return greatest_of(found.relative); })
        .def_ro("least_degree", &Evidence::least_degree)
        .def_ro("greatest_degree", &Evidence::greatest_degree)
        .def_ro("least_exit", &Evidence::least_exit)
        .def_ro("greatest_exit", &Evidence::greatest_exit)
        .def_ro("n_nodes", &Evidence::n_nodes)
        .def_ro("stray", &Evidence::stray);
    nb::class_<BoundVerdict>(m, "Verdict")
        .def(nb::init<Array<std::int64_t>, Array<double>, Array<std::uint8_t>,
                      Array<std::uint8_t>>(),
             nb::kw_only(), "codes"_a.noconvert(), "margins"_a.noconvert(),
             "certified"_a.noconvert(), "status"_a.noconvert());
    nb::class_<BoundProblem> problem(m, "Problem");
    problem
        .def(nb::init<Array<const std::int64_t>, Array<const std::int32_t>, nb::object,
                      const Array<const std::uint8_t>&, Array<const double>, nb::object, double,
                      bool, bool, int, const std::string&, bool>(),
             "start"_a, "ends"_a, "weights"_a.none(), "free"_a, "degrees"_a, "ties"_a.none(),
             "leak"_a, "root"_a, "peeling"_a, "threads"_a, "simd"_a, "reducing"_a)
        .def_prop_ro("n_eliminated",
                     [](const BoundProblem& b) {
                         return b.problem.peel().child.size() + b.problem.fold().nodes.size();
                     })
        .def("factorise", [](BoundProblem& b) { unlocked([&] { b.problem.factor(); }); })
        .def_prop_ro("factor_entries", [](const BoundProblem& b) { return b.problem.factor_entries(); })
        .def_prop_ro("is_reordered", [](const BoundProblem& b) { return b.problem.is_reordered(); })
        .def_prop_ro("n_rows", [](const BoundProblem& b) { return b.problem.system().n_rows; })
        .def_prop_ro("is_one_chunk", [](const BoundProblem& b) { return b.problem.n_chunks() == 1; });
    nb::class_<Sources>(m, "Sources");
    m.def("sources", &make_sources, "problem"_a, "nodes"_a, "rows"_a);
    nb::class_<BoundExits>(m, "ExitTimes")
        .def(nb::init<Array<double>>(), "h"_a.noconvert())
        .def_ro("h", &BoundExits::h)
        .def_prop_ro("lack", [](const BoundExits& self) { return self.times.lack; })
        .def_prop_ro("longest", [](const BoundExits& self) { return self.times.longest; })
        .def_prop_ro("done", [](const BoundExits& self) { return self.times.done; });
    nb::enum_<State>(m, "State")
        .value("GOING", State::going)
        .value("SLOW", State::slow)
        .value("REACHED", State::reached)
        .value("SHORT_OF_DIGITS", State::short_of_digits)
        .value("HOPELESS", State::hopeless);
    nb::class_<BoundSteering> steering(m, "Steering");
    steering
        .def(nb::init<BoundProblem&, BoundExits&, int, int, bool, bool, const Sources*,
                      const Array<const double>&, const Array<const double>&, std::int64_t,
                      const std::string&>(),
             "problem"_a, "exits"_a, nb::kw_only(), "first"_a, "columns"_a, "with_exits"_a,
             "hidden"_a, "sources"_a.none(), "low"_a, "high"_a, "max_steps"_a,
             "preconditioner"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             nb::keep_alive<1, 8>())
        .def_prop_ro("steps", [](const BoundSteering& self) { return self.steering.steps(); })
        .def_prop_ro("likely", [](const BoundSteering& self) { return self.steering.likely(); })
        .def_prop_ro("levels",
                     [](const BoundSteering& self) {
                         const double* const levels = self.steering.levels();
                         return std::vector<double>(levels, levels + self.block.width());
                     })
        .def("forget", [](BoundSteering& self) { self.steering.forget(); })
        .def("rest", [](BoundSteering& self) { self.steering.rest(); })
        .def("multiply",
             [](BoundSteering& self) { unlocked([&] { self.steering.descent().multiply(); }); });
    m.def("drains", &find_all_drains, "start"_a, "ends"_a, "weights"_a.none(), "free"_a, "leak"_a,
          "h"_a, "ties"_a.none(), "drains"_a.noconvert(), "threads"_a, "simd"_a);
    bind_type<float>(m, steering);
    bind_type<double>(m, steering);
}

}  // namespace isotherm
