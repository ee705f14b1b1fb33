// An issue tracker of a busy project: issues by the hundred thousand, with labels, milestones, people and comments.
import { randomUUID } from 'node:crypto';
import type { Database } from '../src/db/index.ts';
import { seededRandom } from '../test/fixtures/seeded-random.ts';

const words = (
  'server page slow crash after push clone token timeout error branch rename delete search index runner log artifact ' +
  'webhook mirror label filter avatar login session email backup restore migrate schema config proxy header cache'
).split(' ');
const issuesAtOnce = 500;
const startedAt = Date.UTC(2020, 0, 1);
const everyMs = 30 * 60_000;

interface SampleTracker {
  /** A number with `longLog` entries. */
  longIssue: number;
  longLog: number;
}

/**
 * Fills a repository with issues, `entries` in all; one in five is open. The last one has a log of 200 comments, each
 * with Markdown of its own. Rows only: triggers count them, no listener is notified.
 * @param kind `PULL` makes pull requests of them, with one round each, of commits that there are none of
 */
export async function fillTracker(
  db: Database,
  repositoryId: string,
  { issues, entries, kind = 'ISSUE' }: { issues: number; entries: number; kind?: 'ISSUE' | 'PULL' },
): Promise<SampleTracker> {
  const random = seededRandom(16);
  const phrase = (length: number): string => Array.from({ length }, () => random.pick(words)).join(' ');
  const people = Array.from({ length: 200 }, (_, at) => [randomUUID(), `person${at}`]);
  const labels = Array.from({ length: 30 }, (_, at) => [randomUUID(), `area/${words[at]!}`]);
  const milestones = Array.from({ length: 20 }, (_, at) => [randomUUID(), `1.${at}`]);
  const each = 'FROM json_each(?)';
  await db.write(async ({ manager, now }) => {
    const json = [JSON.stringify(people)];
    await manager.query(
      `INSERT INTO users (id, username, created_at) SELECT value ->> 0, value ->> 1, ${now} ${each}`,
      json,
    );
    await manager.query(
      `INSERT INTO handles (folded, display, kind, owner_id) SELECT value ->> 1, value ->> 1, 'user', value ->> 0 ${each}`,
      json,
    );
    await manager.query(
      `INSERT INTO labels (id, repository_id, name, name_folded, colour) SELECT value ->> 0, '${repositoryId}', value ->> 1, value ->> 1, 'd73a4a' ${each}`,
      [JSON.stringify(labels)],
    );
    await manager.query(
      `INSERT INTO milestones (id, repository_id, title, title_folded, created_at) SELECT value ->> 0, '${repositoryId}', value ->> 1, value ->> 1, ${now} ${each}`,
      [JSON.stringify(milestones)],
    );
    await manager.query('INSERT INTO issue_numbers (repository_id, last) VALUES (?, ?) ON CONFLICT DO NOTHING', [
      repositoryId,
      issues,
    ]);
  });
  const longLog = 200;
  const comments = entries / issues - 1;
  for (let first = 1; first <= issues; first += issuesAtOnce) {
    const rows: unknown[][] = [];
    const logs: unknown[][] = [];
    const tags: unknown[][] = [];
    const assigned: unknown[][] = [];
    for (let number = first; number < first + issuesAtOnce && number <= issues; number += 1) {
      const [id, author] = [randomUUID(), random.pick(people)[0]];
      const count = number === issues ? longLog - 1 : Math.round(comments * 2 * (random.below(1000) / 1000));
      const createdAt = startedAt + number * everyMs;
      const updatedAt = createdAt + random.below(1000) * everyMs;
      const isOpen = number === issues || random.chance(0.2);
      const milestone = random.chance(0.3) ? random.pick(milestones)[0] : null;
      rows.push([id, number, phrase(7), author, isOpen ? 'OPEN' : 'CLOSED', milestone, count, createdAt, updatedAt]);
      for (let position = 0; position <= count; position += 1)
        logs.push([
          id,
          position,
          position === 0 ? 'opened' : 'comment',
          random.pick(people)[0],
          `${phrase(40)}\n\n* **${phrase(3)}** in \`${phrase(1)}\`\n* see #${1 + random.below(number)} (${number}.${position})\n\n${phrase(20)}`,
          createdAt + position * 60_000,
        ]);
      const chosen = new Set(Array.from({ length: random.below(4) }, () => random.pick(labels)[0]));
      for (const label of chosen) tags.push([id, label]);
      if (random.chance(0.3)) assigned.push([id, random.pick(people)[0]]);
    }
    await db.write(async ({ manager, now }) => {
      await manager.query(
        `INSERT INTO issues (id, repository_id, number, kind, title, author_id, state, milestone_id, last_position, comment_count, created_at, updated_at)
         SELECT value ->> 0, '${repositoryId}', value ->> 1, '${kind}', value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 6, value ->> 7, value ->> 8 ${each}`,
        [JSON.stringify(rows)],
      );
      await manager.query(
        `INSERT INTO issue_entries (issue_id, position, kind, author_id, body, created_at, announced_at)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, ${now} ${each}`,
        [JSON.stringify(logs)],
      );
      if (kind === 'PULL') {
        const oid = 'lower(hex(randomblob(20)))';
        await manager.query(
          `INSERT INTO pulls (issue_id, repository_id, is_open, base_branch, source, submitter_id, last_round, head_oid, base_oid)
           SELECT id, repository_id, state = 'OPEN', 'main', 'PUSH', author_id, 1, ${oid}, ${oid} FROM issues
           WHERE repository_id = '${repositoryId}' AND number >= ${first} AND number < ${first + issuesAtOnce}`,
        );
        await manager.query(
          `INSERT INTO pull_rounds (issue_id, round, head_oid, base_oid, commit_count, change, submitter_id, created_at)
           SELECT p.issue_id, 1, p.head_oid, p.base_oid, 1, 'first', p.submitter_id, i.created_at
           FROM issues i JOIN pulls p ON p.issue_id = i.id
           WHERE i.repository_id = '${repositoryId}' AND i.number >= ${first} AND i.number < ${first + issuesAtOnce}`,
        );
      }
      await manager.query(`INSERT INTO issue_labels SELECT value ->> 0, value ->> 1 ${each}`, [JSON.stringify(tags)]);
      await manager.query(`INSERT INTO issue_assignees SELECT value ->> 0, value ->> 1 ${each}`, [
        JSON.stringify(assigned),
      ]);
    });
  }
  return { longIssue: issues, longLog };
}
