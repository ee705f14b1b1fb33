import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReleasePage } from '../../mirrors/index.ts';
import type { WorkerPool } from '../../workers/index.ts';
import { sourceFailed } from '../client/source-errors.ts';
import { numbersAsTheyAre } from '../sources/source-numbers.ts';
import type { NumberedKind, SourceNumbers } from '../sources/source-numbers.ts';
import type { Source, SourcePage, TellProblem } from '../sources/source.ts';
import { createListReader, readWhole } from './dump-lists.ts';
import type { ReadPart } from './dump-lists.ts';
import { fileLimits } from './file-limits.ts';
import { openBelow } from './open-below.ts';
import { factsFile, reviewsFile } from './plain-folder.ts';
import type { PlainFacts, PlainLists, PlainReview } from './plain-folder.ts';

const mostRows = 10_000;

/**
 * Reads the folder that `PlainFolder` writes. @param numbers numbers of issues and pull requests if the folder numbers
 * them separately
 */
export async function openPlainSource(
  tools: { workers: WorkerPool },
  { folder, url, host }: { folder: string; url: string; host: string },
  { tell, client, numbers: given }: { tell: TellProblem; client: string; numbers?: SourceNumbers | undefined },
): Promise<Source> {
  const facts = JSON.parse(await readFile(path.join(folder, factsFile), 'utf8')) as PlainFacts;
  const read = createListReader(tools, folder, client, { itemBytes: fileLimits.jsonBytes, partBytes: 1024 * 1024 });
  const numbers = facts.isApart && given !== undefined ? given : numbersAsTheyAre;
  const rowsOf = async <Name extends keyof PlainLists>(name: Name): Promise<PlainLists[Name][]> =>
    (await readWhole(read, name, mostRows)).items as PlainLists[Name][];
  const numberOf = async (kind: NumberedKind, there: number): Promise<number> =>
    (await numbers.of(kind, [there])).get(there)!;

  /** Pages of two lists, one after the other, with the numbers here. */
  async function page<Row extends { number: number }>(
    lists: readonly [issues: keyof PlainLists, pulls: keyof PlainLists],
    cursor: string | null,
    between: () => Promise<void> = async () => {},
  ): Promise<SourcePage<Row>> {
    const [, list = lists[0], from = '0'] = /^([a-z-]+):(\d{1,15})$/.exec(cursor ?? '') ?? [];
    const isPulls = list === lists[1];
    const part = await read(list, Number(from));
    const rows = part.items as Row[];
    const found = await numbers.of(isPulls ? 'pull' : 'issue', [...new Set(rows.map(({ number }) => number))]);
    const next = part.next === null ? (isPulls ? null : `${lists[1]}:0`) : `${list}:${part.next}`;
    if (!isPulls && part.next === null) await between();
    return { rows: rows.map((row) => ({ ...row, number: found.get(row.number)! })), next };
  }

  return {
    host,
    pullRefs: facts.pullRefs,
    username: '',
    async describe() {
      for (const [item, problem] of facts.problems) tell(item, problem);
      return { ...facts.repository, cloneUrl: '', url };
    },
    async *labels() {
      yield await rowsOf('labels');
    },
    async *milestones() {
      yield await rowsOf('milestones');
    },
    issues: ({ cursor }) => page(['issues', 'talks'], cursor, () => numbers.settle()),
    issue: async () => null,
    async pulls({ cursor }) {
      const part = await read('pulls', Number(cursor ?? 0));
      const rows = part.items as PlainLists['pulls'][];
      const found = await numbers.of(
        'pull',
        rows.map(({ number }) => number),
      );
      return {
        rows: rows.map((row) => ({ ...row, number: found.get(row.number)! })),
        next: part.next === null ? null : String(part.next),
      };
    },
    async pull(number) {
      const { iid } = await numbers.from(number);
      const found = await findPull(read, iid);
      return found === null ? null : { ...found, number };
    },
    numberOfPull: (there) => numberOf('pull', there),
    comments: ({ cursor }) => page(['comments', 'pull-comments'], cursor),
    async reviews(number) {
      const { iid } = await numbers.from(number);
      const most = fileLimits.reviewsPerPull;
      const rows = (await readWhole(read, reviewsFile(iid), most)).items as PlainReview[];
      return {
        reviews: rows.flatMap((row) => ('review' in row ? row.review : [])),
        comments: rows.flatMap((row) => ('note' in row ? row.note : [])),
      };
    },
    reactions: async () => [],
    rules: () => rowsOf('rules'),
    hooks: () => rowsOf('hooks'),
    toDo: async () => facts.toDo,
    counts: async () => facts.counts,
    archive: async () => false,
  };
}

async function findPull(read: ReadPart, iid: number): Promise<PlainLists['pulls'] | null> {
  for (let from: number | null = 0; from !== null; ) {
    const part: Awaited<ReturnType<ReadPart>> = await read('pulls', from);
    const found = (part.items as PlainLists['pulls'][]).find(({ number }) => number === iid);
    if (found !== undefined) return found;
    from = part.next;
  }
  return null;
}

/** The releases of such a folder; the URLs of their files are names in it. */
export async function* readPlainReleases(
  tools: { workers: WorkerPool },
  folder: string,
  client: string,
): AsyncGenerator<ReleasePage> {
  const read = createListReader(tools, folder, client);
  const open: ReleasePage['open'] = async ({ url }) => {
    const content = await openBelow(folder, url);
    if (content === null) throw sourceFailed('the archive does not have it');
    return content;
  };
  for (let from: number | null = 0; from !== null; ) {
    const part: Awaited<ReturnType<ReadPart>> = await read('releases', from);
    yield { releases: part.items as PlainLists['releases'][], open };
    from = part.next;
  }
}
