import t from 'tap';
import { isDomainError } from '../../src/kernel/index.ts';
import { objectLost, objectNotFound } from '../../src/lfs/lfs-errors.ts';
import { listLocks } from '../../src/lfs/locks/locks.ts';
import { lfsLockSchema } from '../../src/lfs/schema/lfs-schema.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { viewerOf } from '../repositories/repositories-fixture.ts';

const { modules } = await startHearth(t);
const person = await modules.accounts.addPerson({ username: 'alice' });
const ids: string[] = [];
for (const name of ['site', 'other']) {
  const { id } = await modules.repositories.create(viewerOf(person), { name, visibility: 'PUBLIC' });
  ids.push(id);
  await modules.db.write(async ({ manager, now }) => {
    for (const path of ['b', 'a', 'ü', 'c'])
      await manager.insert(lfsLockSchema, {
        id: `${name}-${path}`,
        repositoryId: id,
        path,
        ref: null,
        ownerId: person.id,
        lockedAt: now,
      });
  });
}
const list = (query: Parameters<typeof listLocks>[2]) => listLocks(modules as never, ids[0]!, query);

t.test('locks are listed by path, page after page, of one repository', async (t) => {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { locks, nextCursor } = await list({ limit: 2, ...(cursor !== undefined && { cursor }) });
    pages.push(locks.map(({ id }) => id));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  t.strictSame(pages, [
    ['site-a', 'site-b'],
    ['site-c', 'site-ü'],
  ]);
});

t.test('a cursor that this server has not given is refused', async (t) => {
  for (const cursor of ['!', 'YQ==', ' YQ', 'gA'])
    t.equal(await list({ cursor }).catch((error) => error.reason), 'invalid_lock_cursor', cursor);
  t.equal((await list({ cursor: 'YQ' })).locks[0]?.id, 'site-b');
});

t.test('an object that is absent or lost is not found, so that clients upload it again', (t) => {
  for (const error of [objectNotFound(), objectLost()]) t.equal(isDomainError(error) && error.code, 'not_found');
  t.end();
});
