// People and repositories by the hundred thousand: names that share syllables, as real ones share words.
import type { Database } from '../src/db/index.ts';
import { seededRandom } from '../test/fixtures/seeded-random.ts';
import type { SeededRandom } from '../test/fixtures/seeded-random.ts';

const syllables = 'ka lo mi ta re ne so pi du ver lin tor gen fab qu ex zu ph or an el ing ed st th'.split(' ');
const rowsAtOnce = 1_000;

/**
 * Inserts this many people, each with one repository; one in five is private. Without the modules, the next start makes
 * the index.
 */
export async function fillNames(db: Database, count: number): Promise<void> {
  const random = seededRandom(11);
  const word = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(syllables)).join('');
  const words = Array.from({ length: 4_000 }, word);
  // The lower half is drawn more often, as some words are.
  const some = () => words[Math.min(random.below(words.length), random.below(words.length))]!;
  const text = (length: number) => Array.from({ length }, some).join(' ');
  for (let start = 0; start < count; start += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, count - start) }, (_, at) => {
      const handle = `${some()}${start + at}`;
      return [
        random.uuid(),
        handle,
        text(2),
        random.uuid(),
        `${some()}-${some()}`,
        text(3 + random.below(8)),
        random.chance(0.2) ? 'PRIVATE' : 'PUBLIC',
      ];
    });
    const json = JSON.stringify(rows);
    await db.write(async ({ manager, now }) => {
      const each = 'FROM json_each(?)';
      await manager.query(
        `INSERT INTO users (id, username, display_name, created_at) SELECT value ->> 0, value ->> 1, value ->> 2, ${now} ${each}`,
        [json],
      );
      await manager.query(
        `INSERT INTO handles (folded, display, kind, owner_id) SELECT value ->> 1, value ->> 1, 'user', value ->> 0 ${each}`,
        [json],
      );
      await manager.query(
        `INSERT INTO repositories (id, owner_user_id, name, name_folded, description, visibility, created_at, updated_at)
         SELECT value ->> 3, value ->> 0, value ->> 4, value ->> 4, value ->> 5, value ->> 6, ${now}, ${now} ${each}`,
        [json],
      );
    });
  }
}

/** Frequent syllables in an order that is mostly absent: every part of the query is frequent. */
export function drawHardQuery(random: SeededRandom): string {
  const drawn = Array.from(
    { length: 2 + random.below(5) },
    () => random.pick(syllables) + (random.chance(0.35) ? ' ' : ''),
  ).join('');
  return drawn.trim().slice(random.below(2));
}
