// What comments, titles of tests and documents cite is there: sections of the specification, invariants of the
// security model, decisions, files. Documents that the repository does not have are not cited.
import t from 'tap';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { commentsOf, parseSource, projectFolder, testTitles, trackedFiles } from './source-files.ts';

const read = (file: string): string => readFileSync(path.join(projectFolder, file), 'utf8');
const files = trackedFiles();
const headings = (file: string): string[] => [...read(file).matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);

const sections = new Set(headings('docs/specification.md').map((heading) => /^[\d.]*\d/.exec(heading)?.[0]));
const invariants = new Set([...read('docs/security-model.md').matchAll(/^\| ([A-K]\d\d) \|/gm)].map(([, id]) => id));
const decisions = new Set(files.flatMap((file) => /^docs\/decisions\/(\d{3})-/.exec(file)?.[1] ?? []));

/** GitHub's id of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/`|\*|\[|\]\([^)]*\)/g, '')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Documents that are not in the repository, and forms of citation that nothing resolves. */
const absent: [pattern: RegExp, what: string][] = [
  [/\bDESIGN\b/g, 'DESIGN'],
  [/\b(?:web-ui|command-line|scale-out|runner-protocol)(?:\.md)? §/g, 'a document that is not here'],
  [
    /(?<![\w/-])(?:security|command-line|layout|vocabulary|scale-out|collaboration|operations|product|web-ui)\.md\b/g,
    'a document that is not here',
  ],
  [
    /(?<![\w/-])(?:security|federation(?:\.md)?|dependencies|performance|layout|product) §/g,
    'a section that is not here',
  ],
  [/\b[A-K]-\d{1,2}\b(?![-.\w])/g, 'an id that is not defined'],
  [/\bissues? \d+(?:\.\d+)?\b/g, 'an issue that is not here'],
];

/** Text of which citations are read, with its line. */
interface Passage {
  text: string;
  line: number;
}

function passagesOf(file: string, text: string): Passage[] {
  if (/\.(ts|mts|js|mjs)$/.test(file)) {
    const source = parseSource(file, text);
    return [...commentsOf(source), ...testTitles(source)];
  }
  const lines = text.split('\n').map((text, index) => ({ text, line: index + 1 }));
  if (file.endsWith('.md')) return lines;
  return lines.filter(({ text }) => (file.endsWith('.sql') ? /^\s*--/ : /^\s*(?:#|\/\/)/).test(text));
}

function wrongIn(file: string, text: string): string[] {
  const found: string[] = [];
  for (const written of passagesOf(file, text)) {
    const passage = { ...written, text: written.text.replace(/\s+/g, ' ') };
    const report = (what: string): void => void found.push(`${file}:${passage.line}: ${what}`);
    for (const [pattern, what] of absent)
      for (const [citation] of passage.text.matchAll(pattern)) report(`${citation}: ${what}`);
    for (const [citation, section] of passage.text.matchAll(/\bSPEC(?: §? ?([\d.]*\d))?/g))
      if (section === undefined || !sections.has(section)) report(`${citation}: no such section`);
    for (const [citation, id] of passage.text.matchAll(/(?<![\w-])([A-K]\d\d)(?![\w-])/g))
      if (!invariants.has(id!)) report(`${citation}: no such invariant`);
    for (const [citation, number] of passage.text.matchAll(/\bdecisions?[ /](\d{3})\b/g))
      if (!decisions.has(number!)) report(`${citation}: no such decision`);
    for (const name of namedFiles(passage.text)) if (!isThere(file, name)) report(`${name}: no such file`);
    if (file.endsWith('.md')) for (const link of brokenLinks(file, passage.text)) report(`${link}: no such place`);
  }
  return found;
}

/** `src/db/index.ts`, `docs/ci.md`: paths of the project's own kinds of files; a name alone in backticks or brackets. */
function namedFiles(text: string): string[] {
  const pattern = /(?<![\w.:/*@{}…-])((?:\.{1,2}\/|[\w-]+\/)+[\w.-]*\w\.(?:ts|mts|mjs|md|sql|pug|proto))\b(?![\w/*])/g;
  const alone = /(?<=[`(])[\w-]+(?:\.[\w-]+)*\.(?:ts|mts|mjs|pug|proto)(?=[`),:])/g;
  return [...[...text.matchAll(pattern)].map((match) => match[1]!), ...(text.match(alone) ?? [])];
}

/** From the root, from the file itself, from its module, or the end of the path of one file. */
function isThere(file: string, name: string): boolean {
  const from = (folder: string): boolean => existsSync(path.join(projectFolder, folder, name));
  return (
    from('') || from(path.dirname(file)) || (!name.startsWith('.') && files.some((other) => other.endsWith(`/${name}`)))
  );
}

function brokenLinks(file: string, text: string): string[] {
  return [...text.replace(/`[^`]*`/g, '').matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)/g)].flatMap(
    ([, target, fragment]) => {
      const to = target === '' ? file : path.posix.join(path.posix.dirname(file), target!);
      if (!existsSync(path.join(projectFolder, to))) return [to];
      if (fragment === undefined || !to.endsWith('.md')) return [];
      return headings(to).map(anchor).includes(fragment) ? [] : [`${to}#${fragment}`];
    },
  );
}

/** Why a file may name what is not there. */
const exempt: Record<string, string> = {
  'test/architecture/citations.test.ts': 'has cases of wrong citations',
  'bench/RESULTS.md': 'names files of measured repositories',
};

const isChecked = (file: string): boolean =>
  /^(src|bin|scripts|test|bench|migrations|templates|docs|packaging|proto)\//.test(file) || /^[A-Z]+\.md$/.test(file);
const isText = (file: string): boolean =>
  /\.(ts|mts|js|mjs|md|sql|pug|css|proto|sh|txt|toml|yml|yaml)$|\/[\w-]+$/.test(file);
const checked = files.filter((file) => isChecked(file) && isText(file) && !Object.hasOwn(exempt, file));

t.test('every citation resolves', async (t) => {
  t.ok(checked.length > 10);
  t.strictSame(
    checked.flatMap((file) => wrongIn(file, read(file))),
    [],
  );
});

t.test('what a function throws is a sentence of its own, not the end of a tag', async (t) => {
  const glued = /[\w`)\]'"](?: |\n\s*\* +)(?:Refuses|Throws) /;
  t.match('@param a the first Throws `x`', glued);
  t.match(' * @returns the first\n *   Throws `x`', glued);
  t.notMatch('The first. Throws `x`', glued);
  const found = checked
    .filter((file) => /^(?:src|bin|scripts|migrations)\/.*\.m?ts$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/\/\*\*[^]*?\*\//g)].flatMap(([comment]) => {
        const tags = comment.slice(comment.search(/@(?:param|returns)\b/));
        return comment.includes('@') && glued.test(tags) ? [`${file}: ${glued.exec(tags)![0]}`] : [];
      }),
    );
  t.strictSame(found, []);
});

t.test('no comment is wider than 120 columns', async (t) => {
  const long = checked
    .filter((file) => /\.(ts|mts|js|mjs|sql)$/.test(file))
    .flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) =>
          line.length > 120 && /^\s*(?:\/\/|\/?\*|--)/.test(line) && !/https?:\/\/\S{60}/.test(line)
            ? [`${file}:${index + 1}`]
            : [],
        ),
    );
  t.strictSame(long, []);
});

t.test('the check sees what it is for', async (t) => {
  const sees = [
    '// as SPEC §4.99 says',
    '// as SPEC says',
    '// DESIGN §4',
    '// web-ui §12.7',
    '// see security.md',
    '// security A99',
    '// security §2.2',
    '// D-10',
    '// docs/decisions/999',
    '// src/db/nothing-here.ts',
    '// see ./nothing-here.ts',
    '// by `nothing-here.ts`, as (nothing-here.ts) says',
    "t.test('issue 3.9 keys', async () => {});",
  ];
  for (const text of sees) t.not(wrongIn('src/x.ts', text).length, 0, text);
  const doesNotSee = [
    '// SPEC §4.3, SPEC §8',
    '// RFC 4253 §6.6',
    '// security A06, D02',
    '// docs/decisions/001',
    '// src/db/index.ts',
    '// db/index.ts',
    "const path = 'src/nothing.ts';",
  ];
  for (const text of doesNotSee) t.strictSame(wrongIn('src/x.ts', text), [], text);
  t.strictSame(wrongIn('docs/x.md', '[a](ci.md) [b](specification.md#45-git) `[c](d.md)`'), []);
  t.strictSame(wrongIn('docs/x.md', '[a](absent.md) [b](specification.md#absent)'), [
    'docs/x.md:1: docs/absent.md: no such place',
    'docs/x.md:1: docs/specification.md#absent: no such place',
  ]);
});
