// time limit: 600 s
// Kill -9 while images are replaced and removed. HEARTH_IMAGE_KILLS says how often; a few by default.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { sampleImages } from '../images/sample-images.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { openModules } from './repositories-fixture.ts';

const kills = Number(process.env.HEARTH_IMAGE_KILLS ?? 5);
t.setTimeout(200_000 + kills * 5_000);
const program = new URL('./image-writer.ts', import.meta.url).pathname;
const types = Object.keys(sampleImages) as (keyof typeof sampleImages)[];

/** What a round may leave: what was acknowledged last, or the change that was running. */
function allowedAfter(writes: string[], firstWrite: number): string[] {
  const next = firstWrite + writes.length;
  return [writes.at(-1)!, next % 5 === 4 ? 'none' : types[next % types.length]!];
}

t.test(`${kills} kills during image writes leave the old image or the new one, complete, with its type`, async (t) => {
  const { repositories, alice, folder, imageFolder } = await openModules(t);
  const { id } = await repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  const random = seededRandom(kills);
  let acknowledged = 0;
  for (let kill = 0; kill < kills; kill++) {
    const firstWrite = random.below(20);
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, folder, alice.id, String(firstWrite)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    t.teardown(() => child.kill('SIGKILL'));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    await sleep(random.below(60));
    child.kill('SIGKILL');
    await closed;
    const writes = output.split('\n').slice(0, -1);
    acknowledged += writes.length;

    await repositories.recover();
    const { repository } = await repositories.find(alice, 'alice', 'work');
    const image = repository.imageContentType === null ? null : await repositories.images.open(alice, 'alice', 'work');
    const state = image === null ? 'none' : image.type;
    const allowed = allowedAfter(writes, firstWrite);
    if (!allowed.includes(state))
      t.fail(`kill ${kill}: ${state} after ${writes.slice(-2).join(', ')}; allowed ${allowed.join(', ')}`);
    if (image !== null) {
      const bytes = Buffer.concat(await image.stream().toArray());
      if (!bytes.equals(sampleImages[image.type]))
        t.fail(`kill ${kill}: ${bytes.length} bytes that are not the ${image.type}`);
      if (repository.imageContentType !== image.type || repository.imageUpdatedAt !== image.stamp)
        t.fail(`kill ${kill}: the row has another type or time`);
    }
    // A kill may come before the first image, and with it before the folder.
    const files = existsSync(imageFolder) ? readdirSync(imageFolder) : [];
    if (files.join() !== (image === null ? '' : id)) t.fail(`kill ${kill}: left over ${files.join()}`);
  }
  t.ok(acknowledged >= kills, `${acknowledged} writes were acknowledged before ${kills} kills`);
  t.comment(`${acknowledged} writes acknowledged, ${kills} kills`);
});
