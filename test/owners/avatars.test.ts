import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createImageStore } from '../../src/images/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { avatarSchema, createAvatars } from '../../src/owners/index.ts';
import type { EntitySchema } from 'typeorm';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { sampleImages } from '../images/sample-images.ts';

const alice = '00000000-0000-4000-8000-00000000000a';
const bob = '00000000-0000-4000-8000-00000000000b';
const upload = (declaredType: keyof typeof sampleImages) => ({ declaredType, bytes: sampleImages[declaredType] });

async function openAvatars(t: Owner) {
  const { db, folder, clock, random } = await openTestDatabase(t, {
    entities: [avatarSchema as unknown as EntitySchema<never>],
  });
  const directory = path.join(folder, 'avatars');
  const store = createImageStore({ directory, clock, random, logger: silentLogger });
  const avatars = createAvatars({ db, store, logger: silentLogger });
  const typeOf = async (id: string) => {
    const image = await avatars.open(id);
    await image?.close();
    return image?.type ?? null;
  };
  return { db, directory, clock, store, avatars, typeOf };
}

t.test('an avatar is validated, replaced, and removed', async (t) => {
  const { avatars, clock, directory, typeOf } = await openAvatars(t);
  t.equal(await typeOf(alice), null);
  t.same(await avatars.replace(alice, upload('image/png')), {
    ownerId: alice,
    contentType: 'image/png',
    updatedAt: clock.now(),
  });
  await avatars.replace(alice, upload('image/webp'));
  t.equal(await typeOf(alice), 'image/webp');
  t.same([...(await avatars.ofOwners([alice, bob, alice])).keys()], [alice]);
  await t.rejects(avatars.replace(bob, { ...upload('image/png'), declaredType: 'image/gif' }), {
    field: 'avatar',
  } as unknown as Error);
  t.same(readdirSync(directory), [alice]);
  await avatars.remove(alice);
  await avatars.remove(alice);
  t.equal(await typeOf(alice), null);
  t.same(readdirSync(directory), []);
});

t.test('an owner’s avatar is deleted in the same write', async (t) => {
  const { avatars, db, store, typeOf } = await openAvatars(t);
  await avatars.replace(alice, upload('image/png'));
  await t.rejects(
    db.write(async (tx) => {
      await avatars.forget(tx, alice);
      throw new Error('changed its mind');
    }),
    { message: 'changed its mind' },
  );
  t.equal(await typeOf(alice), 'image/png');
  await db.write((tx) => avatars.forget(tx, alice));
  t.equal(await typeOf(alice), null, 'the row decides, before the file is gone');
  await avatars.recover();
  t.same(await store.list(), []);
});

t.test('at start rows follow files that are newer, and temporary files are removed', async (t) => {
  const { avatars, db, directory, store, typeOf, clock } = await openAvatars(t);
  await avatars.replace(alice, upload('image/png'));
  await store.put(alice, sampleImages['image/gif'], clock.now() + 9);
  await store.put(bob, sampleImages['image/gif'], 1);
  writeFileSync(path.join(directory, `.${bob}.0123456789abcdef`), 'half');
  await avatars.recover();
  t.same(await db.read.find(avatarSchema), [{ ownerId: alice, contentType: 'image/gif', updatedAt: clock.now() + 9 }]);
  t.same(readdirSync(directory), [alice]);
  writeFileSync(path.join(directory, alice), 'no image');
  await avatars.recover();
  t.equal(await typeOf(alice), null);
  t.same(await db.read.find(avatarSchema), []);
});
