import { Readable } from 'node:stream';
import { rows } from '../db/index.ts';
import { internal, isDomainError, unavailable } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';

/** A replaced server stops within fifteen seconds. */
const lookMs = 10_000;
const prefix = 'instance/';
const digits = 12;
const keyForm = /^instance\/(\d{12})-([0-9a-f-]{36})$/;

/** The number grows with each recovery. */
interface Mark {
  number: number;
  mark: string;
}

export interface InstanceMark {
  /**
   * Before the ports open: compares the marks of database and bucket, creates the first one, and checks again every ten
   * seconds. Throws `instance_replaced`, `bucket_of_another_instance`, `object_store_unavailable` if the bucket must be
   * marked.
   */
  begin(): Promise<void>;
  stop(): void;
}

type Deps = Pick<StoreDeps, 'db' | 'objects' | 'clock' | 'random' | 'logger'>;

/**
 * A bucket with repositories belongs to one database. Two servers that write into it from different copies of that
 * database would each treat the other's objects as leftovers; a recovery therefore creates a new mark, and the replaced
 * server stops.
 * @param onReplaced called once with a sentence: the program must exit
 */
export function createInstanceMark(deps: Deps, onReplaced: (sentence: string) => void): InstanceMark {
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    const fault = judge(await markOfRows(deps), await markOfBucket(deps));
    if (fault === null) return;
    clearInterval(timer);
    onReplaced(fault.message);
  }

  return {
    async begin() {
      const inBucket = await markOfBucket(deps).catch((error: unknown) => {
        // While the store is unavailable, a server serves reads from its caches.
        if (isDomainError(error) && error.code === 'unavailable') return undefined;
        throw error;
      });
      if (inBucket !== undefined) {
        const own = await markOfRows(deps);
        if (own === null && inBucket !== null) throw anothersBucket();
        const fault = judge(own, inBucket);
        if (fault !== null) throw fault;
        if (inBucket === null) await putMark(deps, own ?? (await writeMark(deps, 1)));
      }
      timer = setInterval(
        () => void look().catch((error: unknown) => deps.logger.debug('repository_store.mark_unread', { error })),
        lookMs,
      ).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Makes this database the bucket's owner. The previous writer stops. Returns the number of the mark. */
export async function takeBucket(deps: Deps): Promise<number> {
  const [own, inBucket] = [await markOfRows(deps), await markOfBucket(deps)];
  const made = await writeMark(deps, Math.max(own?.number ?? 0, inBucket?.number ?? 0) + 1);
  await putMark(deps, made);
  const after = await markOfBucket(deps);
  if (after?.mark !== made.mark)
    throw unavailable('bucket_taken', 'Another recovery took this bucket at the same time. Run one of them again.');
  return made.number;
}

function judge(own: Mark | null, inBucket: Mark | null): Error | null {
  if (own === null || inBucket === null) return null;
  if (inBucket.number > own.number)
    return unavailable(
      'instance_replaced',
      'Another server was recovered from the bucket of this server and has replaced it: this server must not serve any more. To use it again, run here: hearth recover --from-store',
    );
  return inBucket.number === own.number && inBucket.mark !== own.mark ? anothersBucket() : null;
}

const anothersBucket = () =>
  unavailable(
    'bucket_of_another_instance',
    'The bucket has the repositories of another database. Give this server another bucket or prefix, or, if its rows are an older copy, run: hearth recover --from-store',
  );

async function markOfRows({ db }: Deps): Promise<Mark | null> {
  const [found] = await rows<Mark>(db.read, 'SELECT number, mark FROM instance_marks ORDER BY number DESC LIMIT 1');
  return found === undefined ? null : { number: Number(found.number), mark: found.mark };
}

/** The highest; of two with the same number, the one that sorts first. */
async function markOfBucket({ objects }: Deps): Promise<Mark | null> {
  let highest: Mark | null = null;
  for await (const { key } of objects.list(prefix)) {
    const [, number, mark] = keyForm.exec(key) ?? [];
    if (mark === undefined) continue;
    const found = { number: Number(number), mark };
    const isHigher = highest === null || found.number > highest.number;
    if (isHigher || (found.number === highest!.number && found.mark < highest!.mark)) highest = found;
  }
  return highest;
}

/** Identical for all nodes that find it. */
async function writeMark({ db, random }: Deps, number: number): Promise<Mark> {
  await db.write(({ manager, now }) =>
    rows(manager, 'INSERT INTO instance_marks (number, mark, made_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
      number,
      random.uuid(),
      now,
    ]),
  );
  const [found] = await rows<Mark>(db.read, 'SELECT number, mark FROM instance_marks WHERE number = ?', [number]);
  return { number, mark: found!.mark };
}

async function putMark({ objects, clock }: Deps, { number, mark }: Mark): Promise<void> {
  const content = Buffer.from(`${JSON.stringify({ format: 1, madeAt: clock.now() })}\n`);
  await objects
    .put(`${prefix}${String(number).padStart(digits, '0')}-${mark}`, Readable.from([content]), {
      maxBytes: content.length,
      tooLarge: () => internal('too long'),
    })
    .catch((error: unknown) => {
      // Another node has written the same mark.
      if (!isDomainError(error) || error.reason !== 'object_exists') throw error;
    });
}
