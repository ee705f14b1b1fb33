// File names, identifiers, comments and documents use the terms of the field: none of coined-words.txt occurs in them.
import t from 'tap';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { commentsOf, parseSource, projectFolder, testTitles, trackedFiles, walk } from './source-files.ts';

const list = readFileSync(new URL('coined-words.txt', import.meta.url), 'utf8');
const coined = list.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const pattern = new RegExp(`(?<![a-z])(?:${coined.join('|')})s?(?![a-z])`, 'g');

/** `keptOldTips`, `kept-old-tips` and `kept  old tips` are the same words. */
const words = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z']+/g, ' ')
    .trim();

const coinedIn = (text: string): string[] => words(text).match(pattern) ?? [];

/** Names that people, programs or data depend on: they stay, wherever they are mentioned. Each with its reason. */
const publicNames: [name: RegExp, reason: string][] = [
  [/--rehearse\b/g, 'flag of the command line'],
  [/^rehearse$/g, 'the option of that flag, named by commander'],
  [/\bsearch_grown_grams\b/g, 'table of the schema'],
  [/^search_grown_grams$/g, 'table of the schema'],
  [/\bparcel_(?:name_missing|not_written|unreadable)\b/g, 'reasons of refusals in JSON errors'],
  [/\bhearth_restore_proven_age_seconds\b/g, 'metric that monitoring reads'],
  [/\bhearth_recovery_proven_age_seconds\b/g, 'metric that monitoring reads'],
  [/^proven$/g, 'field of proof.json and of JSON results: repositories that a restore test found intact'],
  [/^lastProvenRestoreAt$/g, 'field of the JSON of `hearth status`'],
];

const withoutPublicNames = (text: string): string =>
  publicNames.reduce((rest, [name]) => rest.replace(name, ' '), text);

const files = trackedFiles();
const isCode = (file: string): boolean => /\.(ts|mts|js|mjs)$/.test(file);

function coinedWordsOf(file: string, text: string): string[] {
  const found = coinedIn(file).map((word) => `${file}: ${word} in its name`);
  const look = (part: string, line: number): void => {
    for (const word of coinedIn(withoutPublicNames(part))) found.push(`${file}:${line}: ${word}`);
  };
  if (isCode(file)) {
    const source = parseSource(file, text);
    for (const { text, line } of [...commentsOf(source), ...testTitles(source)]) look(text, line);
    walk(source.tree, (node) => {
      if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return;
      look(node.text, source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line + 1);
    });
  } else {
    text.split('\n').forEach((line, index) => look(commentOrProse(file, line), index + 1));
  }
  return [...new Set(found)];
}

/** Of a document its text, of a script or a migration the comment. */
function commentOrProse(file: string, line: string): string {
  if (file.endsWith('.md')) return line;
  return /^\s*(?:--|#|\/\/)(.*)/.exec(line)?.[1] ?? '';
}

const isChecked = (file: string): boolean =>
  /^(src|bin|scripts|test|bench|migrations)\//.test(file) || /\.md$/.test(file);
const exempt: Record<string, string> = {
  'test/architecture/coined-words.txt': 'is the list',
  'test/architecture/coined-words.test.ts': 'has cases of the list',
  'CHANGELOG.md': 'says what releases said',
};

t.test('no coined word in file names, identifiers, comments, titles of tests and documents', async (t) => {
  const checked = files.filter((file) => isChecked(file) && !Object.hasOwn(exempt, file));
  t.ok(checked.length > 10);
  const found = checked.flatMap((file) => {
    const text = readFileSync(path.join(projectFolder, file), 'utf8');
    return text.includes('\0') ? [] : coinedWordsOf(file, text);
  });
  t.strictSame(found, []);
});

t.test('the check sees what it is for', async (t) => {
  const sees = [
    ['src/x/front-door.ts', ''],
    ['src/x/y.ts', 'const waitingLine = 1;'],
    ['src/x/y.ts', 'class A { #letGo() {} }'],
    ['src/x/y.ts', '/** A stranger\n * reads. */\nexport {};'],
    ['src/x/y.ts', 'f(\n  // the crowds\n  1,\n);'],
    ['test/x/y.test.ts', "t.test('a crowd gets turns', async () => {});"],
    ['docs/x.md', 'What a crowd can take'],
    ['migrations/001.sql', '-- upkeep of a repository'],
  ] as const;
  for (const [file, text] of sees) t.not(coinedWordsOf(file, text).length, 0, `${file} ${text}`);
  const doesNotSee = [
    ['src/x/indoors.ts', 'const legend = "a stranger";'],
    ['src/x/y.ts', '/** `hearth migrate --rehearse` */\nexport {};'],
    ['migrations/001.sql', 'CREATE TABLE rooms (id TEXT);'],
  ] as const;
  for (const [file, text] of doesNotSee) t.strictSame(coinedWordsOf(file, text), [], `${file} ${text}`);
});
