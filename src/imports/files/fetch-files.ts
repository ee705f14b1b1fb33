import { eachLimit, isRefusal } from '../../kernel/index.ts';
import { filesIn } from '../links/source-files.ts';
import type { RunContext } from '../context/run-context.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { SourceComment, SourceFile, SourceIssue, SourceReview, SourceReviewComment } from '../sources/source.ts';

/** Limit of concurrent downloads. */
const atOnce = 2;
const rowsAtOnce = 50;
const prefix = 'file:';
/** Limit of stored positions per file. */
const mostPlaces = 200;

/** A file to fetch: its name, and the entries that show it. */
interface Wanted {
  name: string;
  shown: [number: number, origin: string][];
}

/** The attached files of an issue or a pull request, with the entries that show them. */
export function filesOfIssue(
  { row }: Pick<RunContext, 'row'>,
  parts: {
    issue: SourceIssue;
    comments: readonly SourceComment[];
    reviews: readonly SourceReview[];
    notes: readonly SourceReviewComment[];
  },
): Map<string, Wanted> {
  const found = new Map<string, Wanted>();
  const { number } = parts.issue;
  const add = (origin: string, body: string, attached: readonly SourceFile[] = []): void => {
    for (const { key, name } of [...attached, ...filesIn(row, body)]) {
      const wanted = found.get(key) ?? { name, shown: [] };
      wanted.name ||= name;
      if (!wanted.shown.some(([, other]) => other === origin)) wanted.shown.push([number, origin]);
      found.set(key, wanted);
    }
  };
  add('opened', parts.issue.body, parts.issue.files);
  for (const comment of parts.comments) add(`comment:${comment.id}`, comment.body, comment.files);
  for (const review of parts.reviews) add(`review:${review.id}`, review.body);
  for (const note of parts.notes) add(`review:${note.reviewId}`, note.body);
  return found;
}

/** In the write of their issues, records which files to fetch; files that are already here get their new positions. */
export async function noteFiles(
  { row }: Pick<RunContext, 'row'>,
  manager: Parameters<Parameters<RunContext['deps']['db']['write']>[0]>[0]['manager'],
  files: ReadonlyMap<string, Wanted>,
): Promise<void> {
  for (const [key, { name, shown }] of files) {
    const item = `${prefix}${key}`.slice(0, 900);
    const before = await manager.findOneBy(itemSchema, { importId: row.id, item });
    const known = before === null ? null : readState(before.fingerprint);
    const places = [...(known?.shown ?? []), ...shown];
    const unique = [...new Map(places.map((place) => [place.join(' '), place])).values()].slice(0, mostPlaces);
    if (known !== null && unique.length === known.shown.length) continue;
    const fingerprint = writeState('wanted', { name: known?.name || name, shown: unique });
    await manager.upsert(itemSchema, { importId: row.id, item, fingerprint }, ['importId', 'item']);
  }
}

const writeState = (state: 'wanted' | 'done' | 'failed', wanted: Wanted): string =>
  `${state} ${JSON.stringify(wanted)}`;
const readState = (fingerprint: string): Wanted =>
  JSON.parse(fingerprint.slice(fingerprint.indexOf(' ') + 1)) as Wanted;

/**
 * Fetches the attached files that texts show; a failure adds a line to the report, and a run that compares everything
 * retries it.
 */
export async function fetchFiles(context: RunContext): Promise<void> {
  const { deps, row } = context;
  const states = row.isFull ? ['wanted %', 'failed %'] : ['wanted %'];
  for (let after = prefix; ; ) {
    const rows: { item: string; fingerprint: string }[] = await deps.db.read.query(
      `SELECT item AS item, fingerprint AS fingerprint FROM import_items
       WHERE import_id = ? AND item > ? AND item < ? AND (${states.map(() => 'fingerprint LIKE ?').join(' OR ')})
       ORDER BY item LIMIT ?`,
      [row.id, after, `${prefix.slice(0, -1)};`, ...states, rowsAtOnce],
    );
    if (rows.length === 0) return;
    await eachLimit(rows, atOnce, (each) => fetchOne(context, each));
    after = rows.at(-1)!.item;
  }
}

async function fetchOne(
  context: RunContext,
  { item, fingerprint }: { item: string; fingerprint: string },
): Promise<void> {
  const { deps, row, located, files, signal } = context;
  signal.throwIfAborted();
  const key = item.slice(prefix.length);
  const wanted = readState(fingerprint);
  const about = `file ${wanted.name || key}`;
  let failure: string | null = null;
  let name = wanted.name;
  try {
    const opened = async () => {
      const file = await files.open(key, wanted.name);
      name ||= file.name;
      return file.stream;
    };
    const given = { key, shown: wanted.shown, createdAt: deps.clock.now() };
    await deps.issues.followed.storeFile(located.repository, { ...given, nameOf: () => name }, opened);
  } catch (error) {
    if (signal.aborted || !isRefusal(error) || error.reason === 'disk_full') throw error;
    failure = error.message;
  }
  const places = [...new Set(wanted.shown.map(([number]) => `#${number}`))].slice(0, 5).join(', ');
  context.renew(about.slice(0, 200));
  if (failure !== null) context.tell(about, `of ${places} did not come: ${failure}`);
  await context.save({}, async ({ manager }) => {
    await manager.update(
      itemSchema,
      { importId: row.id, item },
      { fingerprint: writeState(failure === null ? 'done' : 'failed', { ...wanted, name }) },
    );
  });
}
