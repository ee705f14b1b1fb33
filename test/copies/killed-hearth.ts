// A whole Hearth to be killed: `FOLDER ORIGIN PEERS AHEAD`, its clock AHEAD ms ahead. It delivers, looks after copies
// and fetches them as fast as it can, and does what its parent asks by messages {id, call, args}.
import type { PersonViewer } from '../../src/access/index.ts';
import { startPeer } from '../federation/two-instances.ts';

const [, , folder = '', origin = '', peers = '', ahead = '0'] = process.argv;
let aheadMs = Number(ahead);
const { hostname, port } = new URL(origin);
const hearth = await startPeer(
  { teardown(): void {} },
  {
    host: hostname,
    port: Number(port),
    allow: peers.split(',').map((peer) => new URL(peer).hostname),
    folder,
    clock: { now: () => Date.now() + aheadMs },
    env: {
      SERVICE_MIRRORS_ALLOWED_HOSTS: peers
        .split(',')
        .map((peer) => new URL(peer).host)
        .join(','),
    },
  },
);
const { federation, copies, mirrors, repositories } = hearth.modules;

const viewerOf = ({ id, username }: { id: string; username: string }): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

type Someone = { id: string; username: string };

const calls = {
  addPerson: (username: string) => hearth.addPerson(username),
  create: (owner: Someone, name: string) =>
    repositories.create(viewerOf(owner), { name, visibility: 'PUBLIC', defaultBranch: 'trunk' }).then(() => null),
  follow: (userId: string, target: string) => federation.follow(userId, target),
  state: async (userId: string) => (await federation.followingOf(userId)).repositories[0]?.state ?? null,
  keep: (owner: Someone, followId: string) => copies.keep(viewerOf(owner), owner as never, followId).then(() => null),
  copies: async () => (await copies.list({ after: null, limit: 10 })).rows,
  advance: async (ms: number) => (aheadMs += ms),
  pathOf: async (owner: Someone, name: string) => (await repositories.find(viewerOf(owner), owner.username, name)).path,
  pushes: async (userId: string) =>
    (await federation.followedNews(userId, 50)).pushes.map(({ hashAfter }) => hashAfter),
};
export type Calls = typeof calls;

process.on('message', ({ id, call, args }: { id: number; call: keyof Calls; args: unknown[] }) => {
  const work = calls[call] as (...given: unknown[]) => Promise<unknown>;
  work(...args).then(
    (result) => process.send!({ id, result }),
    (error: Error) => process.send!({ id, error: error.stack }),
  );
});
process.send!('ready');
for (;;) {
  await federation.drain();
  await copies.tend();
  await mirrors.runDue();
  await new Promise((resolve) => setTimeout(resolve, 20));
}
