// How the search orders what it finds: pages to learn from first, records of the past last.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    if (/^project\/changes|^dependencies/.test(docname)) return score - 12;
    if (/^(install|first-labels|guide|trust|label-more|formats|gpu|large-graphs|many-machines|labelling)$/.test(docname))
      return score + 3;
    if (/^gallery\//.test(docname)) return score + 3;
    if (/^(certificate|consistency|performance)$/.test(docname)) return score - 3;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
