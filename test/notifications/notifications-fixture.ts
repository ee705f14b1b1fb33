// openNotifications(t) → the modules up to notifications on real SQLite and git, with alice, bob, carol and alice/roof
// (PUBLIC).  settle() waits until every entry is announced and told.  rowsOf(person) → the inbox, read as the person.
import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import type { PersonViewer, Viewer } from '../../src/access/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { issueEntities } from '../../src/issues/index.ts';
import { createNotifications, notificationEntities } from '../../src/notifications/index.ts';
import type { InboxView, NotificationOptions } from '../../src/notifications/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openModules, viewerOf } from '../repositories/repositories-fixture.ts';
import { at, issuesOver, roof } from '../issues/issues-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

export { at, roof, viewerOf };

export async function openNotifications(t: Owner, options: Partial<NotificationOptions> = {}) {
  const more = [...issueEntities, ...notificationEntities] as unknown as EntitySchema[];
  const modules = await openModules(t, { more });
  await modules.repositories.create(modules.alice, { ...roof, visibility: 'PUBLIC' });
  const issues = issuesOver(t, modules);
  const notifications = createNotifications({
    ...modules,
    issues,
    ci: { environments: { reviewersOfRun: async () => [] } },
    key: new InstanceKey(path.join(modules.folder, 'secret.key'), systemRandom, 'notifications'),
    random: systemRandom,
    settings: { baseUrl: 'https://git.example.org', locale: 'en', keepDoneMs: 30 * 24 * 3_600_000 },
    ...options,
  });
  t.teardown(() => notifications.stop());
  issues.onEntry(notifications.onEntry);
  const { db } = modules;
  const count = async (sql: string): Promise<number> => {
    const [row]: { n: number }[] = await db.read.query(sql);
    return Number(row!.n);
  };
  async function settle(): Promise<void> {
    const open = 'SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL AND held_at IS NULL';
    await waitUntil(async () => (await count(open)) === 0);
    await notifications.tell();
  }
  async function rowsOf(viewer: Viewer, view: InboxView = 'inbox') {
    await settle();
    const { rows } = await notifications.list(viewer, { view }, { limit: 100 });
    return rows.map(({ issue, run, reason, isUnread, firstPosition }) => {
      const about = issue === null ? `run ${run!.number}` : `#${issue.number}`;
      return `${about} ${reason}${isUnread ? ` from ${firstPosition}` : ''}`;
    });
  }
  async function addPerson(username: string): Promise<PersonViewer> {
    return viewerOf(await modules.accounts.addPerson({ username }));
  }
  return { ...modules, issues, notifications, settle, rowsOf, count, addPerson };
}

export type NotificationModules = Awaited<ReturnType<typeof openNotifications>>;
