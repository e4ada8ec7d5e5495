#include "lookup.hpp"
#include "marks.hpp"
#include "multiply.hpp"
#include "names.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

template <class Index>
void edges_become_a_symmetric_matrix(const Edges& edges, const Entries& entries, bool weighted,
                                     int threads) {
    const OwnGraph own = built<Index>(edges, weighted, threads);
    CHECK(own.n_entries == static_cast<Int>(entries.size()));
    CHECK((own.weights.get() != nullptr) == (weighted && own.n_entries > 0));
    Doubles degrees(own.n_nodes, 0.0), sums = degrees;
    Int at = 0;
    for (const auto& [ends, weight] : entries) {
        CHECK(own.start[ends.first] <= at && at < own.start[ends.first + 1]);
        CHECK(own.ends[at] == ends.second && view(own).weight(at) == weight);
        degrees[ends.first] += weight;
        ++at;
    }
    row_sums(view(own), sums.data(), threads);
    CHECK(sums == degrees);
    const Findings found = inspect(view(own), threads);
    CHECK(found.sorted && found.symmetric && !found.zeros && !found.faulty);
    CHECK(found.ones == !own.weights.get());

    const auto panel = static_cast<std::size_t>(own.n_nodes * panel_width);
    std::vector<float> X(panel), product(panel), slow(panel, 0.0f);
    for (std::size_t k = 0; k < panel; ++k) X[k] = static_cast<float>(k % 7) - 3;
    multiply(view(own), X.data(), product.data(), threads);
    for (const auto& [ends, weight] : entries) {
        for (int l = 0; l < panel_width; ++l) {
            slow[ends.first * panel_width + l] +=
                static_cast<float>(weight) * X[ends.second * panel_width + l];
        }
    }
    CHECK(product == slow);
}

// The rows of the whole, from entries that were put in order by ranges of rows.
void ranges_of_rows_are_those_of_the_whole(const Edges& edges, bool weighted, int threads) {
    const OwnGraph whole = built<std::int32_t>(edges, weighted, threads);
    const std::vector<std::int32_t> source(edges.source.begin(), edges.source.end());
    const std::vector<std::int32_t> target(edges.target.begin(), edges.target.end());
    const auto n = static_cast<std::int32_t>(edges.n_nodes);
    const std::vector<std::int32_t> cuts{0, n / 7, n / 3, n / 3, n};
    const RangedEntries entries =
        scatter(edges.count(), source.data(), target.data(),
                weighted ? edges.weight.data() : nullptr, 4, cuts.data());
    for (int b = 0; b < 4; ++b) {
        const Int from = entries.first[b], count = entries.first[b + 1] - from;
        const OwnGraph rows = from_entries(
            cuts[b], cuts[b + 1] - cuts[b], n, count, entries.rows.get() + from,
            entries.ends.get() + from, weighted ? entries.weights.get() + from : nullptr, threads);
        const Int first = whole.start[cuts[b]];
        CHECK(rows.n_entries == whole.start[cuts[b + 1]] - first);
        for (Int i = 0; i < rows.n_nodes; ++i) {
            CHECK(rows.start[i] == whole.start[cuts[b] + i] - first);
        }
        for (Int e = 0; e < rows.n_entries; ++e) {
            CHECK(rows.ends[e] == whole.ends[first + e]);
            CHECK(view(rows).weight(e) == view(whole).weight(first + e));
        }
    }
    if (edges.count() > 0) {
        const std::vector<std::int32_t> too_few{0, 0};
        CHECK(throws<std::out_of_range>([&] {
            scatter(edges.count(), source.data(), target.data(), nullptr, 1, too_few.data());
        }));
    }
}

void an_end_outside_the_graph_is_refused(Edges edges, int threads) {
    for (const Int wrong : {Int{-1}, edges.n_nodes}) {
        for (auto* const ends : {&edges.source, &edges.target}) {
            const Int good = std::exchange(ends->back(), wrong);
            CHECK(throws<std::out_of_range>([&] { built<std::int32_t>(edges, true, threads); }));
            CHECK(throws<std::out_of_range>([&] { built<Int>(edges, false, threads); }));
            ends->back() = good;
        }
    }
}

void inspection_finds_what_is_wrong(int threads) {
    using Starts = std::vector<Int>;
    using Ends = std::vector<std::int32_t>;
    const Starts start{0, 1, 3, 5};  // 0 – 1 – 2, and a self loop at 2
    const Ends ends{1, 0, 2, 1, 2};
    const Doubles weights{2, 2, 3, 3, 1};
    const auto found = [&](const Starts& start_, const Ends& ends_, const Doubles& weights_) {
        return inspect({3, start_.data(), ends_.data(), weights_.data()}, threads);
    };
    const auto with_loop = [&](double w) { return found(start, ends, {2, 2, 3, 3, w}); };
    const Findings good = found(start, ends, weights);
    CHECK(good.sorted && good.symmetric && !good.ones && !good.zeros && !good.faulty);
    CHECK(found(start, ends, {1, 1, 1, 1, 1}).ones);
    const Findings unsorted = found(start, {1, 2, 0, 1, 2}, {2, 3, 2, 3, 1});
    CHECK(!unsorted.sorted && unsorted.symmetric);
    for (const Ends& bad : {Ends{1, 0, 0, 1, 2}, Ends{1, 0, 3, 1, 2}, Ends{-1, 0, 2, 1, 2}}) {
        CHECK(!found(start, bad, weights).sorted);
    }
    CHECK(!found(start, {2, 0, 2, 1, 2}, weights).symmetric);
    CHECK(!found(start, ends, {2.5, 2, 3, 3, 1}).symmetric);
    CHECK(with_loop(0).zeros && !with_loop(0).faulty && with_loop(0).symmetric);
    for (const double bad : {-1.0, infinity, -infinity, nan}) CHECK(with_loop(bad).faulty);
    CHECK(throws<BadGraph>([&] { found({0, 3, 1, 5}, ends, weights); }));
}

// Rows of all lengths, from none to more than are looked at at once.
struct LongAndShort {
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    Graph view() const { return {Int(start.size()) - 1, start.data(), ends.data(), nullptr}; }

    LongAndShort() {
        const Int lengths[] = {0, 1, 2, 0, 15, 16, 17, 0, 40, 1000, 3, 30, 2500, 1, 0, 7, 0};
        const Int n = 3 * 2500;
        for (Int i = 0; i < n; ++i) {
            const Int length = i < Int(std::size(lengths)) ? lengths[i] : dice.below(5);
            for (Int e = 0; e < length; ++e) ends.push_back(std::int32_t(3 * e + i % 3));
            start.push_back(Int(ends.size()));
        }
    }
};

void rows_have_one_fingerprint(const Kernels* kernels) {
    const LongAndShort rows;
    const Graph graph = rows.view();
    const Int cuts[] = {0, 1, 9, 10, 13, 100, graph.n_nodes};
    constexpr std::uint64_t key = 0x0123456789abcdef;
    for (int c = 0; c + 1 < Int(std::size(cuts)); ++c) {
        std::uint64_t sum = 0;
        for (Int i = cuts[c]; i < cuts[c + 1]; ++i) {
            for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                sum += marks<std::uint64_t>(std::uint64_t(i), std::uint64_t(graph.ends[e]), key);
            }
        }
        const RowsSeen seen = kernels->look(graph, cuts[c], cuts[c + 1], key);
        CHECK(seen.fingerprint == sum && seen.sorted);
    }
    const auto mark = [](std::uint64_t i, std::uint64_t j, std::uint64_t by) {
        return marks<std::uint64_t>(i, j, by);
    };
    CHECK(mark(3, 5, key) == 0 - mark(5, 3, key));
    CHECK(mark(3, 3, key) == 0 && mark(3, 5, key) != 0);
    CHECK(mark(3, 5, key) - mark(3, 6, key) != mark(3, 5, key + 1) - mark(3, 6, key + 1));
}

void faults_in_the_order_are_found_wherever_they_are(const Kernels* kernels) {
    LongAndShort rows;
    const Graph graph = rows.view();
    for (Int i = 0; i < 40; ++i) {
        for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const std::int32_t right = rows.ends[e], before = e > graph.start[i] ? rows.ends[e - 1] : -1;
            for (const std::int32_t wrong : {before, before - 1, std::int32_t(graph.n_nodes)}) {
                rows.ends[e] = wrong;
                CHECK(!kernels->look(graph, 0, 40, 1).sorted);
            }
            rows.ends[e] = right;
        }
    }
    CHECK(kernels->look(graph, 0, graph.n_nodes, 1).sorted);
}

void what_leads_out_of_a_graph_is_found_wherever_it_is(const Kernels* kernels) {
    LongAndShort rows;
    const Int n = rows.view().n_nodes, count = Int(rows.ends.size());
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    CHECK(kernels->are_nodes(rows.ends.data(), 0, n) && kernels->are_nodes(rows.ends.data(), count, n));
    for (Int e = 0; e < 100; ++e) {
        const std::int32_t right = rows.ends[e];
        for (const std::int32_t wrong : {-1, std::int32_t(n), lowest, -(lowest + 1)}) {
            rows.ends[e] = wrong;
            CHECK(!kernels->are_nodes(rows.ends.data(), 100, n));
            CHECK(kernels->are_nodes(rows.ends.data(), e, n));
        }
        rows.ends[e] = right;
    }
    const auto never_falls = [&] { return kernels->never_fall(rows.start.data(), 100); };
    CHECK(kernels->never_fall(rows.start.data(), 0) && never_falls());
    constexpr Int least = std::numeric_limits<Int>::min();
    for (Int i = 1; i < 100; ++i) {
        const Int right = rows.start[i];
        for (const Int wrong : {rows.start[i - 1] - 1, rows.start[i + 1] + 1, least, -(least + 1)}) {
            rows.start[i] = wrong;
            CHECK(!never_falls());
        }
        rows.start[i] = right;
    }
}

// Texts of all lengths, many of them alike but for a byte, numbered as a map would.
void names_are_numbered_as_they_appear(int threads) {
    std::map<std::string, std::int32_t> expected;
    Names names;
    std::uint64_t state = 7;
    const auto draw = [&](std::uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % below;
    };
    for (int part = 0; part < 6; ++part) {
        std::string bytes = "xy";  // texts need not start at 0
        std::vector<std::int64_t> start{2};
        std::vector<std::string> texts;
        for (int k = 0; k < 3000; ++k) {
            std::string text(draw(40), 'a');
            if (!text.empty()) text[draw(text.size())] = static_cast<char>('a' + draw(26));
            if (k == 11) text = std::string(1 << 21, 'z') + static_cast<char>('a' + part % 3);
            texts.push_back(text);
            bytes += text;
            start.push_back(static_cast<std::int64_t>(bytes.size()));
        }
        std::vector<std::int32_t> numbers(texts.size());
        if (part % 2) {
            const std::vector<std::int32_t> narrow(start.begin(), start.end());
            names.encode(Texts<std::int32_t>{3000, narrow.data(), bytes.data()}, numbers.data(),
                         threads);
        } else {
            names.encode(Texts<std::int64_t>{3000, start.data(), bytes.data()}, numbers.data(),
                         threads);
        }
        for (std::size_t k = 0; k < texts.size(); ++k) {
            const auto next = static_cast<std::int32_t>(expected.size());
            CHECK(numbers[k] == expected.emplace(texts[k], next).first->second);
        }
    }
    CHECK(names.count() == static_cast<Int>(expected.size()));
    for (const auto& [text, number] : expected) {
        const Int at = names.start()[number], length = names.start()[number + 1] - at;
        CHECK(std::string(names.bytes() + at, static_cast<std::size_t>(length)) == text);
    }
}

// A table finds what it was made of; one that leads outside finds nothing, and reads nothing there.
void names_are_found_in_a_table() {
    std::string bytes;
    std::vector<Int> start{0};
    for (int k = 0; k < 500; ++k) {
        bytes += std::string(static_cast<std::size_t>(k % 23), 'x') + std::to_string(k);
        start.push_back(static_cast<Int>(bytes.size()));
    }
    std::vector<std::int32_t> slots(1024, 0);
    const auto n_bytes = static_cast<Int>(bytes.size());
    const Lookup table{500, start.data(), bytes.data(), n_bytes, 77, 1024, slots.data()};
    CHECK(fill(table) == 0);
    std::vector<Int> places(500);
    find(table, 500, start.data(), bytes.data(), places.data());
    for (Int k = 0; k < 500; ++k) CHECK(places[k] == k);
    const std::string other = "nobody";
    const std::vector<Int> one{0, static_cast<Int>(other.size())};
    find(table, 1, one.data(), other.data(), places.data());
    CHECK(places[0] == -1);

    const std::vector<Int> numbers{5, -7, 1 << 20};
    std::vector<std::int32_t> few(8, 0);
    const auto* const own = reinterpret_cast<const char*>(numbers.data());
    const Lookup of_numbers{3, nullptr, own, 24, 1, 8, few.data()};
    CHECK(fill(of_numbers) == 0);
    find(of_numbers, 3, nullptr, own, places.data());
    CHECK(places[0] == 0 && places[1] == 1 && places[2] == 2);

    for (auto& slot : slots) slot = slot == 0 ? -5 : slot + (1 << 30);
    find(table, 1, one.data(), other.data(), places.data());
    CHECK(places[0] == -1);
    for (std::size_t k = 0; k < slots.size(); ++k) slots[k] = static_cast<std::int32_t>(k % 500) + 1;
    for (const Int wrong : {Int{-9}, Int{1} << 60, n_bytes + 1}) {
        std::vector<Int> astray(501, wrong);
        const Lookup bad{500, astray.data(), bytes.data(), n_bytes, 77, 1024, slots.data()};
        find(bad, 1, one.data(), other.data(), places.data());
        CHECK(places[0] == -1);
    }
}

void components_are_numbered_by_their_least_nodes(const Edges& edges, int threads) {
    const auto least = least_nodes(edges);
    std::vector<std::int32_t> component(least.size());
    const OwnGraph own = built<std::int32_t>(edges, false, threads);
    const Int count = components(view(own), component.data(), threads);
    Int seen = 0;
    for (Int i = 0; i < edges.n_nodes; ++i) {
        CHECK(component[i] == (least[i] == i ? seen++ : component[least[i]]));
    }
    CHECK(count == seen);
}

// Marks run up a path in a single pass, but not down: from the last node on they must be pushed.
void marks_reach_all_of_their_component(const Edges& edges, Int n_marks, int threads) {
    const auto least = least_nodes(edges);
    std::vector<std::uint8_t> marked(least.size(), 0), reached(least.size(), 0);
    for (Int i = edges.n_nodes - n_marks; i < edges.n_nodes; ++i) marked[i] = reached[least[i]] = 1;
    reach(view(built<std::int32_t>(edges, false, threads)), marked.data(), threads);
    for (Int i = 0; i < edges.n_nodes; ++i) CHECK(marked[i] == reached[least[i]]);
}

void test_graph(const Edges& edges, int threads) {
    for (const bool weighted : {false, true}) {
        const Entries entries = entries_of(edges, weighted);
        edges_become_a_symmetric_matrix<std::int32_t>(edges, entries, weighted, threads);
        edges_become_a_symmetric_matrix<std::int64_t>(edges, entries, weighted, threads);
        ranges_of_rows_are_those_of_the_whole(edges, weighted, threads);
    }
    components_are_numbered_by_their_least_nodes(edges, threads);
    for (const Int n_marks : {Int{0}, std::min(Int{1}, edges.n_nodes), edges.n_nodes / 10}) {
        marks_reach_all_of_their_component(edges, n_marks, threads);
    }
}

}  // namespace

void test_graphs() {
    names_are_found_in_a_table();
    for (const int threads : {1, 2, 4}) {
        // The largest has several chunks of edges and of rows.
        for (const Edges& edges :
             {Edges{}, Edges{5, {}, {}, {}}, scattered(6, 300), scattered(60, 70), path(2000),
              with_hub(scattered(9000, 5000)), scattered(9000, 70000)}) {
            test_graph(edges, threads);
        }
        an_end_outside_the_graph_is_refused(scattered(60, 70), threads);
        inspection_finds_what_is_wrong(threads);
        names_are_numbered_as_they_appear(threads);
    }
    for (const Kernels* const kernels : all_kernels()) {
        rows_have_one_fingerprint(kernels);
        faults_in_the_order_are_found_wherever_they_are(kernels);
        what_leads_out_of_a_graph_is_found_wherever_it_is(kernels);
    }
}

}  // namespace isotherm
