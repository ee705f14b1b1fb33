import { readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import { maxImageBytes } from '../../src/images/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { sampleImages } from '../images/sample-images.ts';
import { openModules, reasonOf } from './repositories-fixture.ts';
import type { TestModules } from './repositories-fixture.ts';

type Type = keyof typeof sampleImages;
const upload = (declaredType: Type, bytes: Buffer = sampleImages[declaredType]) => ({ declaredType, bytes });

async function openWork(t: Owner) {
  const modules = await openModules(t);
  const { id } = await modules.repositories.create(modules.alice, { name: 'work', visibility: 'PRIVATE' });
  return {
    ...modules,
    id,
    row: async () => (await modules.repositories.find(modules.alice, 'alice', 'work')).repository,
    replace: (type: Type, bytes?: Buffer) =>
      modules.repositories.images.replace(modules.alice, 'alice', 'work', upload(type, bytes)),
  };
}

/** Type and content as a viewer gets them; the reason when refused. */
async function shown({ repositories }: Pick<TestModules, 'repositories'>, viewer: Viewer): Promise<string> {
  try {
    const image = await repositories.images.open(viewer, 'alice', 'work');
    const bytes = Buffer.concat(await image.stream().toArray());
    return bytes.equals(sampleImages[image.type]) && bytes.length === image.bytes
      ? image.type
      : `${image.type}, but other bytes`;
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

t.test('SPEC §3 upload, replacement and deletion of an image change row and file together', async (t) => {
  const { repositories, alice, row, replace, clock, id, imageFolder } = await openWork(t);
  const created = await row();
  clock.advance(1000);
  await replace('image/png');
  t.match(await row(), { imageContentType: 'image/png', imageUpdatedAt: clock.now(), updatedAt: created.updatedAt });
  t.same(readdirSync(imageFolder), [id], 'SPEC §2.2 named by the UUID of the repository');
  t.equal(await shown({ repositories }, alice), 'image/png');
  await replace('image/webp');
  t.match(await row(), { imageContentType: 'image/webp', imageUpdatedAt: clock.now() + 1 });
  t.equal(await shown({ repositories }, alice), 'image/webp');
  await repositories.images.remove(alice, 'alice', 'work');
  t.match(await row(), { imageContentType: null, imageUpdatedAt: null });
  t.same(readdirSync(imageFolder), []);
  await repositories.images.remove(alice, 'alice', 'work');
  t.equal(await shown({ repositories }, alice), 'repository_not_found');
});

t.test('SPEC §4.3 an image is readable by readers; the three cases of 404 are identical', async (t) => {
  const { repositories, alice, bob, replace, imageFolder, id } = await openWork(t);
  t.equal(await shown({ repositories }, alice), 'repository_not_found', 'no image');
  await replace('image/jpeg');
  for (const viewer of [bob, anonymous, { ...bob, isAdministrator: true }]) {
    t.equal(await shown({ repositories }, viewer), 'repository_not_found', 'no right');
  }
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'read' });
  t.equal(await shown({ repositories }, bob), 'image/jpeg');
  await repositories.changeVisibility(alice, 'alice', 'work', 'PUBLIC');
  t.equal(await shown({ repositories }, anonymous), 'image/jpeg');
  unlinkSync(path.join(imageFolder, id));
  t.equal(await shown({ repositories }, alice), 'repository_not_found', 'no file');
});

t.test('SPEC §4.3 a refused upload leaves the previous image, and no other file', async (t) => {
  const { repositories, alice, bob, row, replace, imageFolder, id } = await openWork(t);
  await replace('image/gif');
  const before = await row();
  const refused: [string, Promise<unknown>][] = [
    ['image_missing', replace('image/png', Buffer.alloc(0))],
    ['image_too_large', replace('image/png', Buffer.concat([sampleImages['image/png'], Buffer.alloc(maxImageBytes)]))],
    ['image_content_mismatch', replace('image/png', sampleImages['image/jpeg'])],
    [
      'image_type_not_allowed',
      repositories.images.replace(alice, 'alice', 'work', {
        declaredType: 'image/svg+xml',
        bytes: Buffer.from('<svg/>'),
      }),
    ],
    ['repository_not_found', repositories.images.replace(bob, 'alice', 'work', upload('image/png'))],
    ['repository_not_found', repositories.images.replace(anonymous, 'alice', 'work', upload('image/png'))],
    [
      'repository_not_found',
      repositories.images.replace({ ...alice, via: 'token', scope: 'write' }, 'alice', 'work', upload('image/png')),
    ],
    ['repository_not_found', repositories.images.remove(bob, 'alice', 'work')],
  ];
  for (const [, work] of refused) work.catch(() => {});
  for (const [reason, work] of refused) t.equal(await reasonOf(work), reason);
  t.same(await row(), before);
  t.same(readdirSync(imageFolder), [id]);
  t.equal(await shown({ repositories }, alice), 'image/gif');
});

t.test('access is checked again in the write: a person who loses it meanwhile changes nothing', async (t) => {
  const { repositories, alice, row, replace, imageFolder, id, db } = await openWork(t);
  await replace('image/gif');
  const write = db.write;
  // The repository goes to the trash after the check and before the row is written.
  db.write = ((fn) => {
    db.write = write;
    return write((tx) => tx.manager.query('UPDATE repositories SET deleted_at = 1')).then(() => write(fn));
  }) as typeof write;
  t.equal(await reasonOf(replace('image/png')), 'repository_not_found');
  await db.write((tx) => tx.manager.query('UPDATE repositories SET deleted_at = NULL'));
  t.match(await row(), { imageContentType: 'image/gif' });
  t.same(readdirSync(imageFolder), [id]);
  t.equal(await shown({ repositories }, alice), 'image/gif');
});

t.test('after concurrent uploads and removals row and file agree', async (t) => {
  const { repositories, alice, row, replace } = await openWork(t);
  const types = Object.keys(sampleImages) as Type[];
  await Promise.all(
    Array.from({ length: 24 }, (_, at) =>
      at % 6 === 5 ? repositories.images.remove(alice, 'alice', 'work') : replace(types[at % 4]!),
    ),
  );
  const { imageContentType } = await row();
  t.equal(await shown({ repositories }, alice), imageContentType ?? 'repository_not_found');
});

t.test('after a start files and rows agree again, and half-written files are removed', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, images, imageFolder, id, row, db, clock } = modules;
  const other = '0f0e0d0c-0b0a-4908-8706-050403020100';
  const recover = async () => (await modules.restart()).repositories.recover();

  await repositories.images.replace(alice, 'alice', 'work', upload('image/png'));
  await images.put(id, sampleImages['image/webp'], clock.now() + 77);
  t.equal(await shown({ repositories }, alice), 'image/webp', 'even before recovery type and bytes agree');
  writeFileSync(path.join(imageFolder, `.${id}.0123456789abcdef`), 'half');
  await images.put(other, sampleImages['image/png'], 5);
  await recover();
  t.match(
    await row(),
    { imageContentType: 'image/webp', imageUpdatedAt: clock.now() + 77 },
    'the row follows the file',
  );
  t.same(readdirSync(imageFolder), [id], 'an orphan and a half file are gone');

  await db.write((tx) =>
    tx.manager.query('UPDATE repositories SET image_content_type = NULL, image_updated_at = NULL'),
  );
  await recover();
  t.same(readdirSync(imageFolder), [], 'a first upload that was never acknowledged, or a removal that was');

  await repositories.images.replace(alice, 'alice', 'work', upload('image/png'));
  writeFileSync(path.join(imageFolder, id), 'no image any more');
  await recover();
  t.match(await row(), { imageContentType: null, imageUpdatedAt: null }, 'what is no image is not shown as one');
});

t.test('an image moves to the trash with its repository, and is deleted with it', async (t) => {
  const { repositories, alice, replace, trashedImages, imageFolder, clock } = await openWork(t);
  await replace('image/png');
  await repositories.trash.move(alice, 'alice', 'work');
  t.same(readdirSync(imageFolder), []);
  t.equal((await trashedImages.list()).length, 1);
  clock.advance(1);
  await repositories.trash.empty(0);
  t.same(await trashedImages.list(), []);
});
