import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import type { WorkerPool } from '../../workers/index.ts';
import { flagOf, objectOf, textOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import type { Source, SourcePage, SourceQuery, SourceRepository, TellProblem } from '../sources/source.ts';
import { wikiFile } from '../export/wiki-file.ts';
import { unreadable } from './copy-folder.ts';
import { createListReader, parseYaml, readWhole } from './dump-lists.ts';
import type { ReadPart } from './dump-lists.ts';
import { readComment, readIssue, readLabel, readMilestone, readPull, readReview } from './dump-shapes.ts';
import { fileLimits } from './file-limits.ts';

const mostLabels = 10_000;
const factsBytes = 256 * 1024;

interface Tools {
  workers: WorkerPool;
}

interface Place {
  folder: string;
  /** URL of its page at the source, without a trailing slash. */
  url: string;
  host: string;
}

/** `repo.yml` of a folder of `dump-repo`. Throws `unreadable_import_files`. */
export async function readFacts({ workers }: Tools, folder: string): Promise<Json> {
  const file = path.join(folder, 'repo.yml');
  const size = (await stat(file).catch(nullIfAbsent))?.size;
  if (size === undefined || size > factsBytes) throw unreadable('This is no folder of dump-repo: it has no repo.yml.');
  const [facts] = await parseYaml(workers, [await readFile(file, 'utf8')], file);
  if (facts === null || typeof facts !== 'object' || Array.isArray(facts))
    throw unreadable('repo.yml of this folder cannot be read.');
  return objectOf(facts);
}

/** Reads `topic.yml`, which may be absent. */
async function readTopics({ workers }: Tools, folder: string): Promise<string[]> {
  const file = path.join(folder, 'topic.yml');
  const size = (await stat(file).catch(nullIfAbsent))?.size ?? 0;
  if (size === 0 || size > factsBytes) return [];
  const { topics } = objectOf((await parseYaml(workers, [await readFile(file, 'utf8')], file))[0]);
  return Array.isArray(topics) ? topics.map(textOf).filter(Boolean) : [];
}

/** Location of the wiki pages, as written by `dump-repo` or by `hearth export`; null if there are none. */
export async function findWiki(folder: string): Promise<string | null> {
  for (const name of ['wiki', wikiFile])
    if ((await stat(path.join(folder, name)).catch(nullIfAbsent)) !== null) return name;
  return null;
}

const isTrue = (value: unknown): boolean => flagOf(value) || value === 'true';

/** The folder that `gitea dump-repo`, `forgejo dump-repo` and `hearth export --gitea` write. */
export function createDumpSource(
  tools: Tools,
  { folder, url, host }: Place,
  tell: TellProblem,
  client: string,
): Source {
  const read = createListReader(tools, folder, client);
  const exists = async (name: string): Promise<boolean> =>
    (await stat(path.join(folder, name)).catch(nullIfAbsent)) !== null;
  const whole = async <Row>(
    name: string,
    most: number,
    shape: (row: Json, at: number) => Row | null,
  ): Promise<Row[]> => {
    const { items, unreadable: lost } = await readWhole(read, name, most);
    if (lost > 0) tell(name, countLost(lost));
    return items.flatMap((item, at) => shape(objectOf(item), at) ?? []);
  };

  async function describe(): Promise<SourceRepository> {
    const facts = await readFacts(tools, folder);
    return {
      name: textOf(facts['name']),
      description: textOf(facts['description']),
      website: textOf(facts['website']),
      defaultBranch: textOf(facts['default_branch']) || (await headOf(path.join(folder, 'git'))),
      isPrivate: !['false', false].includes(facts['is_private'] as string | boolean),
      isArchived: isTrue(facts['is_archived']),
      isEmpty: !(await exists('git')),
      topics: await readTopics(tools, folder),
      hasWiki: (await findWiki(folder)) !== null,
      cloneUrl: textOf(facts['clone_addr']),
      url,
    };
  }

  return {
    host,
    pullRefs: ['refs/pull/*/head'],
    username: '',
    describe,
    async *labels() {
      yield await whole('label.yml', mostLabels, readLabel);
    },
    async *milestones() {
      yield await whole('milestone.yml', mostLabels, readMilestone);
    },
    issues: ({ cursor }) => readTalk(read, cursor, tell),
    issue: async () => null,
    pulls: (query) => readPulls(read, query, tell),
    pull: (number) => findPull(read, number),
    comments: async () => ({ rows: [], next: null }),
    async commentsOf(number) {
      const name = `comments/${number}.yml`;
      let others = 0;
      const found = await whole(name, fileLimits.commentsPerIssue, (row, at) => {
        const comment = readComment(row, number, at);
        if (comment === null) others += 1;
        return comment;
      });
      if (others > 0) tell(`#${number}`, `${others} entries that are no comments did not come`);
      return found;
    },
    async reviews(number) {
      const found = await whole(`reviews/${number}.yml`, fileLimits.reviewsPerPull, readReview);
      return { reviews: found.map(({ review }) => review), comments: found.flatMap(({ comments }) => comments) };
    },
    reactions: async () => [],
    rules: async () => [],
    hooks: async () => [],
    toDo: async () => [
      'Set rules of branches and tags, webhooks, secrets and variables, and give people access: the folder has none of them.',
    ],
    async counts() {
      const count = async (name: string): Promise<number> => {
        let sum = 0;
        for (let from: number | null = 0; from !== null; ) {
          const part: Awaited<ReturnType<ReadPart>> = await read(name, from);
          sum += part.items.length;
          from = part.next;
        }
        return sum;
      };
      return {
        issues: await count('issue.yml'),
        pulls: await count('pull_request.yml'),
        releases: await count('release.yml'),
        labels: await count('label.yml'),
        milestones: await count('milestone.yml'),
      };
    },
    archive: async () => false,
  };
}

const countLost = (count: number): string =>
  count === 1 ? 'an item that cannot be read did not come' : `${count} items that cannot be read did not come`;

/**
 * The branch that HEAD of a bare repository points to; null if there is none, and for a bundle, whose HEAD only git
 * reads.
 */
async function headOf(bare: string): Promise<string | null> {
  const text = await readFile(path.join(bare, 'HEAD'), 'utf8').catch(() => '');
  return /^ref: refs\/heads\/(\S{1,250})\s*$/.exec(text)?.[1] ?? null;
}

/** Issues, then the discussions of pull requests: `issue:0`, `pull:1048576`. */
async function readTalk(
  read: ReadPart,
  cursor: string | null,
  tell: TellProblem,
): Promise<SourcePage<NonNullable<ReturnType<typeof readIssue>>>> {
  const [, kind = 'issue', from = '0'] = /^(issue|pull):(\d{1,15})$/.exec(cursor ?? '') ?? [];
  const isPull = kind === 'pull';
  const name = isPull ? 'pull_request.yml' : 'issue.yml';
  const { items, next, unreadable: lost } = await read(name, Number(from));
  if (lost > 0) tell(name, countLost(lost));
  const rows = items.flatMap((item) => readIssue(objectOf(item), isPull) ?? []);
  if (next !== null) return { rows, next: `${kind}:${next}` };
  return { rows, next: isPull ? null : 'pull:0' };
}

async function readPulls(
  read: ReadPart,
  { cursor }: SourceQuery,
  tell: TellProblem,
): Promise<SourcePage<NonNullable<ReturnType<typeof readPull>>>> {
  const { items, next } = await read('pull_request.yml', Number(cursor ?? 0));
  const rows = items.flatMap((item) => {
    const row = objectOf(item);
    const pull = readPull(row);
    if (pull === null && typeof row['number'] === 'number') tell(`#${row['number']}`, 'names no commit of its head');
    return pull ?? [];
  });
  return { rows, next: next === null ? null : String(next) };
}

async function findPull(read: ReadPart, number: number): Promise<ReturnType<typeof readPull>> {
  for (let from: number | null = 0; from !== null; ) {
    const part: Awaited<ReturnType<ReadPart>> = await read('pull_request.yml', from);
    for (const item of part.items) if (objectOf(item)['number'] === number) return readPull(objectOf(item));
    from = part.next;
  }
  return null;
}
