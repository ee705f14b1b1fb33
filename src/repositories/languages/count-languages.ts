import { ownerIdOf } from '../find-repository.ts';
import { repositorySchema } from '../repository-schema.ts';
import type { RepositoryRoom } from '../room.ts';
import { languageCountSchema, repositoryLanguageSchema } from './language-schema.ts';
import { mainLanguages } from './sum-languages.ts';

/** Of a larger repository the first files stand for the rest. */
const maxCountedFiles = 100_000;
/** Pushes often come in rows; their listing is for people, who can wait so long. */
const settleMs = 3_000;
/** What one run of the job counts at most. */
const maxPerRun = 500;

export interface LanguageCounting {
  /** Counts a repository before long: once, however often it is asked. */
  soon(repositoryId: string): void;
  /** For a job: counts what was pushed to and not counted since, at any time. */
  countDue(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Keeps what each repository is listed under true to its default branch. Nothing waits
 * for it: a push is over when it is counted, and what a stop leaves undone is due.
 */
export function createLanguageCounting(room: RepositoryRoom): LanguageCounting {
  const waiting = new Map<string, NodeJS.Timeout>();
  /** One at a time. */
  let tail: Promise<unknown> = Promise.resolve();
  let stopped = false;

  const count = (repositoryId: string): Promise<boolean> => {
    const counted = tail.then(() => (stopped ? false : countLanguages(room, repositoryId)));
    tail = counted;
    return counted;
  };

  function soon(repositoryId: string): void {
    clearTimeout(waiting.get(repositoryId));
    if (stopped) return;
    const timer = setTimeout(() => {
      waiting.delete(repositoryId);
      void count(repositoryId);
    }, settleMs);
    waiting.set(repositoryId, timer.unref());
  }

  return {
    soon,
    async countDue() {
      const due: { id: string }[] = await room.db.read.query(
        `SELECT r.id FROM repositories r LEFT JOIN language_counts c ON c.repository_id = r.id
         WHERE r.deleted_at IS NULL AND r.pushed_at IS NOT NULL AND (c.counted_at IS NULL OR c.counted_at <= r.pushed_at)
         ORDER BY r.pushed_at DESC LIMIT ?`,
        [maxPerRun],
      );
      let counted = 0;
      for (const { id } of due) if (await count(id)) counted += 1;
      return counted;
    },
    async stop() {
      stopped = true;
      for (const timer of waiting.values()) clearTimeout(timer);
      await tail;
    },
  };
}

/** Answers whether the languages are known now. A repository that cannot be read keeps those that it had. */
async function countLanguages(room: RepositoryRoom, id: string): Promise<boolean> {
  const countedAt = room.clock.now();
  try {
    const repository = await room.db.read.findOneBy(repositorySchema, { id });
    if (repository === null || repository.deletedAt !== null) return false;
    const path = room.git.repositoryPath(ownerIdOf(repository), id);
    const { oid } = await room.git.head(path);
    const known = await room.db.read.findOneBy(languageCountSchema, { repositoryId: id });
    const isKnown = known !== null && known.commitId === oid;
    const languages = isKnown || oid === null ? [] : mainLanguages((await room.git.reading.listFiles(path, oid, { limit: maxCountedFiles })).files);
    await room.db.write(async ({ manager }) => {
      if (!(await manager.existsBy(repositorySchema, { id }))) return;
      await manager.upsert(languageCountSchema, { repositoryId: id, commitId: oid, countedAt }, ['repositoryId']);
      if (isKnown) return;
      await manager.delete(repositoryLanguageSchema, { repositoryId: id });
      for (const [position, language] of languages.entries()) await manager.insert(repositoryLanguageSchema, { repositoryId: id, position, language });
    });
    return true;
  } catch (error) {
    room.logger.warn('repository.languages_not_counted', { repositoryId: id, error });
    return false;
  }
}
