// openReleases(t, {settings?}) → the modules up to releases on real SQLite and git: alice/roof as openPulls has it,
// and `told`, the events of releases in their order.
// content(text) → the bytes of an upload.  stored(modules) → the names of all objects of releases.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import { systemRandom } from '../../src/kernel/index.ts';
import { createReleases, releaseEntities } from '../../src/releases/index.ts';
import type { ReleaseEvent, ReleaseSettings, Releases } from '../../src/releases/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { objectsIn } from '../issues/issues-fixture.ts';
import { openPulls } from '../pulls/pulls-fixture.ts';

export { announced, commit, pushTip, roof, tipOf } from '../pulls/pulls-fixture.ts';
export { reasonOf, viewerOf } from '../repositories/repositories-fixture.ts';

export async function openReleases(t: Owner, { settings = {} }: { settings?: Partial<ReleaseSettings> } = {}) {
  const modules = await openPulls(t, { more: releaseEntities as unknown as EntitySchema[] });
  const objects = objectsIn(modules);
  const told: string[] = [];
  const over = (given: Partial<ReleaseSettings>): Releases => {
    const releases = createReleases({ ...modules, objects, random: systemRandom, settings: given });
    releases.onEvent(async (_tx, { action, release, files }: ReleaseEvent) => {
      told.push([action, release.tag, ...files.map(({ name }) => name)].join(' '));
    });
    return releases;
  };
  const releases = over(settings);
  modules.repositories.pushes.onPush(releases.onPush);
  return { ...modules, objects, releases, told, over };
}

export type ReleaseModules = Awaited<ReturnType<typeof openReleases>>;

export async function* content(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

export function stored({ folder }: Pick<ReleaseModules, 'folder'>): string[] {
  const list = (name: string): string[] => {
    try {
      return readdirSync(path.join(folder, 'objects', name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name);
    } catch {
      return [];
    }
  };
  return [...list('releases'), ...list('.incoming')];
}
