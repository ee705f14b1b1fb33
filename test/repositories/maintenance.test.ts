import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openRooms, push, sampleHistory, zeroId } from './repositories-fixture.ts';

t.test('repositories that need it are packed, one with a push under way waits, and the window ends', async (t) => {
  const rooms = await openRooms(t);
  const { repositories, alice, db, folder } = rooms;
  const { commits, pack } = sampleHistory(folder);
  const folders: string[] = [];
  for (const name of ['needy', 'busy', 'calm']) {
    await repositories.create(alice, { name, visibility: 'PUBLIC' });
    t.same((await push(rooms, alice, `alice/${name}`, [`${zeroId} ${commits[3]} refs/heads/main`], { pack })).report, ['ok refs/heads/main']);
    folders.push((await repositories.find(alice, 'alice', name)).path);
  }
  // As many as would be there after some thousand loose objects.
  for (const at of folders.slice(0, 2)) {
    mkdirSync(path.join(at, 'objects', '17'), { recursive: true });
    for (let number = 0; number < 30; number += 1) writeFileSync(path.join(at, 'objects', '17', `tmp_obj_${number}`), '');
  }
  const { id } = (await repositories.find(alice, 'alice', 'busy')).repository;
  await db.write(({ manager }) => manager.query("INSERT INTO pushes (id, repository_id, via, created_at) VALUES ('p', ?, 'ssh', 1)", [id]));

  t.equal(await repositories.maintain(async () => false), 0, 'the window is over');
  t.equal(await repositories.maintain(async () => true), 1);
  const packs = folders.map((at) => readdirSync(path.join(at, 'objects', 'pack')).filter((name) => name.endsWith('.pack')).length);
  t.same(packs, [1, 0, 0]);
  t.same(await rooms.git.check(folders[0]!), []);
});
