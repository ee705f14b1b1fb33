/**
 * Draws functions of the source by a seed, as many from each section, for a reader who then plants one plausible bug
 * in each without having read the tests: so that the score of a list says something of what nobody has thought of.
 *
 * usage: scripts/draw-functions [--seed TEXT] [--count N]
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Parts of the source by the kind of bug that is to be feared there. */
const sections: Readonly<Record<string, readonly string[]>> = {
  'A ids and their parents': ['pulls/reviews', 'issues/comments', 'issues/attachments', 'webhooks', 'ci/artifacts'],
  'B jobs and trust': ['ci/runners', 'ci/tasks', 'ci/pulls', 'ci/secrets', 'access'],
  'C merging and owners of code': ['pulls/queue', 'pulls/code-owners', 'pulls/merging'],
  'D data': ['backup', 'lfs', 'releases', 'pulls/rounds', 'mirrors'],
  'E what leaves the server': [
    'outbound',
    'federation/deliveries',
    'federation/activities',
    'mail',
    'signing',
    'notices',
  ],
  'F limits and times': ['issues/moderation', 'notifications', 'objects', 'http/admission', 'accounts/sign-in'],
  'G resources and recovery': ['workers', 'search', 'doctor', 'outbox', 'announcements', 'git/maintenance'],
};

interface DrawnFunction {
  section: string;
  file: string;
  line: number;
  name: string;
}

/** Lines of a function, about; a shorter one decides nothing. */
const shortest = 4;

const project = join(import.meta.dirname, '..');
const beginning =
  /^(?:export )?(?:async )?(?:function\*? (\w+)|const (\w+) = (?:async )?(?:\([^)]*\)|\w+)(?:: [^=]+)? =>)/;

function functionsOf(section: string): DrawnFunction[] {
  return sections[section]!.flatMap((folder) => globSync(`src/${folder}/**/*.ts`, { cwd: project }))
    .sort()
    .flatMap((file) =>
      readFileSync(join(project, file), 'utf8')
        .split('\n')
        .flatMap((text, index, lines) => {
          const [, declared, assigned] = beginning.exec(text) ?? [];
          const name = declared ?? assigned;
          const length = lines
            .slice(index)
            .findIndex((line) => /^[})]/.test(line) || (/;$/.test(line) && /^\S/.test(line)));
          return name === undefined || length < shortest ? [] : [{ section, file, line: index + 1, name }];
        }),
    );
}

/** The same for the same source and seed; one more of the first sections where the count is no multiple of them. */
function drawFunctions(seed: string, count: number): DrawnFunction[] {
  const rank = ({ file, name }: DrawnFunction): string =>
    createHash('sha256').update(`${seed}\0${file}\0${name}`).digest('hex');
  const ranked = Object.keys(sections).map((section) =>
    functionsOf(section).sort((a, b) => (rank(a) < rank(b) ? -1 : 1)),
  );
  return Array.from(
    { length: count },
    (_, index) => ranked[index % ranked.length]![Math.trunc(index / ranked.length)]!,
  );
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '50' } },
  });
  for (const { section, file, line, name } of drawFunctions(values.seed, Number(values.count)))
    console.log(`${section.slice(0, 1)} ${file}:${line} ${name}`);
}
