// The sentences of documents and settings are plain English: subject first, standard terms, active verbs.
import t from 'tap';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectFolder, trackedFiles } from './source-files.ts';

const made = 'tag|branch|release|token|key|account|repository|fork|runner|commit|row|link|deployment|issue|user|file';

/** Patterns of sentences that read as translated, each with what to write instead. */
const patterns: [pattern: RegExp, instead: string][] = [
  [/(?<!\bthere )\b(?:is|are|was|were) (?:no|none)\b(?! longer| more\b)/gi, '"is not a mirror" for "is no mirror"'],
  [/, too(?=[,.;:)|]|$)/g, '"also" before the verb for ", too" at the end'],
  [/(?:^|[.;] |\| |^- )(?:What|Who|Whoever|Whatever)\b(?![^.|]*\?)/g, 'a noun for "What …" and "Who …" as subject'],
  [/\b(?:is|are|was|were|be) (?:told|said)\b/g, '"is notified", "is shown", "is logged"'],
  [/\b(?:is|are|was|were|be) asked(?! to\b)/g, '"is checked", "is requested"'],
  [/\bsays? (?:so|what|which|who|whether|how|why)\b/g, '"shows", "reports", "lists"'],
  [/\b(?:stands?|lies?) (?:in|on|under|below|above|beside|at|there)\b/g, '"is", "appears", "is listed"'],
  [/\bleads? (?:to|on)\b/g, '"redirects", "links to", "causes"'],
  [/\b(?:meanwhile|by now|so many|so long|of before|all the same|for good)\b/g, 'a time, a number, "permanently"'],
  [/\bgo(?:es)? on (?:to|by)\b/g, '"continues", "keeps working"'],
  [/\b[Tt]he same (?:is there|holds)\b/g, '"is also available in", "also applies to"'],
  [/\b(?:who|people who|person who|those who) may\b/g, '"users with write access", "everyone who can"'],
  [new RegExp(`\\b(?:makes?|made|making) (?:a|an|another|its|the) (?:new )?(?:${made})s?\\b`, 'g'), '"creates"'],
  [/\btakes? (?:away|off|back)\b/g, '"removes", "reverts"'],
];

/** Without blocks and spans of code and quoted labels, which are in the words of programs and pages. */
function proseOf(text: string): string[] {
  let inBlock = false;
  return text.split('\n').map((line) => {
    if (/^\s*```/.test(line)) inBlock = !inBlock;
    return inBlock ? '' : line.replace(/`[^`]*`/g, '`x`').replace(/"[^"]*"/g, '"x"');
  });
}

const findingsOf = (file: string, text: string): string[] =>
  proseOf(text).flatMap((line, index) =>
    patterns.flatMap(([pattern, instead]) =>
      [...line.matchAll(pattern)].map(([found]) => `${file}:${index + 1}: "${found.trim()}": write ${instead}`),
    ),
  );

const isChecked = (file: string): boolean =>
  /^docs\/[^/]+\.md$/.test(file) || file === 'README.md' || file === 'config.example.toml';

/** Findings that are left: this number only falls. */
const sentencesLeft = 0;

t.test('documents and settings have no sentence that reads as translated', async (t) => {
  const checked = trackedFiles().filter(isChecked);
  t.ok(checked.length > 30);
  const found = checked.flatMap((file) => findingsOf(file, readFileSync(path.join(projectFolder, file), 'utf8')));
  t.ok(found.length <= sentencesLeft, `${found.length} findings:\n${found.join('\n')}`);
});

t.test('each pattern is found, and plain sentences are not', async (t) => {
  const found = [
    'This repository is no mirror.',
    'Commits are linked, too.',
    'What no rule names is open.',
    '| Who sees it | everyone |',
    'The page says why a job waits.',
    'The other server is told.',
    'Rules are asked at each push.',
    'A choice stands under Settings.',
    'The old address leads on.',
    'The trash keeps it so long.',
    'Tokens go on to work.',
    'The same is there in the API.',
    'People who may write approve it.',
    'The push makes a tag.',
    'Revert takes back a commit.',
  ];
  for (const sentence of found) t.equal(findingsOf('docs/x.md', sentence).length, 1, sentence);
  const plain = [
    'There is no limit.',
    'It is no longer followed.',
    'What does a job see?',
    'Run `say what`, and read who replied.',
    '```\nWhat a program prints, too\n```',
    'Users are asked to confirm.',
  ];
  for (const sentence of plain) t.strictSame(findingsOf('docs/x.md', sentence), [], sentence);
});
