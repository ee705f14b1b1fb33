// A program for image-crash-recovery.test.ts: replaces and removes the image of one repository until it is killed.
// argv: the data folder, the id of alice, the number of the round. Prints a line for each act that was acknowledged.
import path from 'node:path';
import { createAccounts } from '../../src/accounts/index.ts';
import { createDatabase } from '../../src/db/index.ts';
import type { Git } from '../../src/git/index.ts';
import { createImageStore } from '../../src/images/index.ts';
import { silentLogger, systemClock, systemRandom } from '../../src/kernel/index.ts';
import { createOrganisations } from '../../src/organisations/index.ts';
import { createAvatars, createOwners } from '../../src/owners/index.ts';
import { createRepositories } from '../../src/repositories/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { databaseOptions } from '../fixtures/test-database.ts';
import { sampleImages } from '../images/sample-images.ts';
import { defaultSettings, entities, viewerOf } from './repositories-fixture.ts';

const [folder, aliceId, round] = process.argv.slice(2) as [string, string, string];
const tools = { clock: systemClock, random: systemRandom, logger: silentLogger };
const db = await createDatabase(
  databaseOptions(path.join(folder, 'hearth.db'), { entities, migrate: 'never', clock: systemClock }),
);
const owners = createOwners({ db });
const accounts = createAccounts({
  db,
  owners,
  instanceKey: new InstanceKey(path.join(folder, 'instance.key'), systemRandom, 'accounts'),
  ...tools,
});
const images = createImageStore({ directory: path.join(folder, 'repo-images'), ...tools });
const avatars = createAvatars({ db, logger: silentLogger, store: images });
const organisations = createOrganisations({
  db,
  owners,
  accounts,
  avatars,
  random: systemRandom,
  logger: silentLogger,
});
// Images never ask git anything but where a repository is.
const git = { storage: { pathOf: () => folder } } as unknown as Git;
const settings = defaultSettings(folder);
const repositories = createRepositories({
  db,
  owners,
  accounts,
  organisations,
  git,
  images,
  trashedImages: images,
  ...tools,
  settings,
});

const alice = viewerOf({ id: aliceId, username: 'alice' });
const types = Object.keys(sampleImages) as (keyof typeof sampleImages)[];
for (let act = Number(round); ; act++) {
  const type = types[act % types.length]!;
  if (act % 5 === 4) await repositories.images.remove(alice, 'alice', 'work');
  else await repositories.images.replace(alice, 'alice', 'work', { declaredType: type, bytes: sampleImages[type] });
  process.stdout.write(`${act % 5 === 4 ? 'none' : type}\n`);
}
