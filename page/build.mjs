// Builds src/main.ts into the one file that the server sends; licences of what is in it beside it.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const target = "../src/isotherm/page/static";
const result = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  outfile: `${target}/page.js`,
});

const packages = new Set(
  Object.keys(result.metafile.inputs)
    .map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
    .filter(Boolean),
);
let text = "What page.js contains besides isotherm's own code, and the licences of it.\n";
for (const name of [...packages].sort()) {
  const about = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf-8"));
  let licence = "";
  for (const file of ["LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE"]) {
    try { licence = readFileSync(`node_modules/${name}/${file}`, "utf-8"); break; } catch { /* another name */ }
  }
  text += `\n${"=".repeat(80)}\n${name} ${about.version}, ${about.license}\n\n${licence.trim()}\n`;
}
writeFileSync(`${target}/LICENCES.txt`, text);
