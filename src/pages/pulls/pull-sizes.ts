import type { Git } from '../../git/index.ts';
import { createLru } from '../../kernel/index.ts';
import type { PullRow } from '../../pulls/index.ts';
import { nullOnTimeout } from '../app/null-on-timeout.ts';

/** Number of changed lines of a pull request. */
interface PullSize {
  added: number;
  removed: number;
}

/** Comparisons that one page starts, and how many of them run at once. */
const maxRead = 25;
const atOnce = 2;
/** Time that a list waits for sizes; later results are on the next view. */
const waitMs = 150;

const known = createLru<string, PullSize>({ name: 'sizes of pull requests', maxWeight: 10_000 });

type Range = Pick<PullRow, 'issueId' | 'baseOid' | 'headOid'>;
const keyOf = ({ baseOid, headOid }: Range): string => `${baseOid}..${headOid}`;

/** The sizes available in time, by the id of the issue. @param path of the bare repository of all of them */
export async function readPullSizes(
  { git }: { git: Git },
  path: string,
  pulls: readonly Range[],
): Promise<Map<string, PullSize>> {
  const missing = pulls.filter((pull) => known.peek(keyOf(pull)) === undefined).slice(0, maxRead);
  const queue = missing[Symbol.iterator]();
  const read = async (): Promise<void> => {
    for (const pull of queue) {
      const { files } = await git.queries.listDiff(path, { from: pull.baseOid, to: pull.headOid });
      const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + (file[side] ?? 0), 0);
      known.set(keyOf(pull), { added: sum('added'), removed: sum('removed') });
    }
  };
  if (missing.length > 0) await nullOnTimeout(Promise.all(Array.from({ length: atOnce }, read)), waitMs);
  return new Map(
    pulls.flatMap((pull) => {
      const size = known.get(keyOf(pull));
      return size === undefined ? [] : [[pull.issueId, size] as const];
    }),
  );
}
