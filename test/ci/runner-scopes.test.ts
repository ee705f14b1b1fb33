// Which jobs a runner may take, over two users, two organisations and two repositories of each.
import t from 'tap';
import { mayTake } from '../../src/ci/task-queue/group-waiting-jobs.ts';

const owners = [
  { ownerUserId: 'alice', ownerOrganisationId: null },
  { ownerUserId: 'carol', ownerOrganisationId: null },
  { ownerUserId: null, ownerOrganisationId: 'guild' },
  { ownerUserId: null, ownerOrganisationId: 'cabal' },
];
const repositories = owners.flatMap((owner) =>
  ['garden', 'shed'].map((name) => ({
    ...owner,
    repositoryId: `${owner.ownerUserId ?? owner.ownerOrganisationId}/${name}`,
  })),
);
const nobody = { userId: null, organisationId: null, repositoryId: null };
const runners = [
  { of: '', scope: nobody },
  ...['alice', 'carol'].map((userId) => ({ of: `${userId}/`, scope: { ...nobody, userId } })),
  ...['guild', 'cabal'].map((organisationId) => ({ of: `${organisationId}/`, scope: { ...nobody, organisationId } })),
  ...repositories.map(({ repositoryId }) => ({ of: repositoryId, scope: { ...nobody, repositoryId } })),
];

t.test('a runner takes jobs of its own repository, owner or instance, and of no other', async (t) => {
  for (const { of, scope } of runners) {
    const runner = { ...scope, labels: ['linux'], trustedOnly: false };
    t.strictSame(
      repositories
        .filter((place) => mayTake(runner, { ...place, labels: ['linux'], isTrusted: false }))
        .map(({ repositoryId }) => repositoryId),
      repositories.map(({ repositoryId }) => repositoryId).filter((id) => id.startsWith(of)),
      of,
    );
  }
});

t.test('its labels are all there, and its code is trusted where the runner asks for that', async (t) => {
  const [place] = repositories;
  const takes = (labels: string[], isTrusted: boolean, trustedOnly: boolean) =>
    mayTake({ ...nobody, labels: ['linux', 'big'], trustedOnly }, { ...place!, labels, isTrusted });
  t.strictSame(
    [[], ['linux'], ['big', 'linux'], ['linux', 'gpu']].map((labels) => takes(labels, true, false)),
    [true, true, true, false],
  );
  t.strictSame(
    [takes([], true, true), takes([], false, true), takes([], true, false), takes([], false, false)],
    [true, false, true, true],
  );
});
