// Two Hearths behind TLS proxies whose certificates come from a private authority that both know by SERVICE_CA_FILE.
import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { makeAuthority } from '../outbound/certificates.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startPeer } from './two-instances.ts';
import type { Peer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const authority = makeAuthority();
const caFile = path.join(temporaryFolder(t), 'authority.pem');
writeFileSync(caFile, authority.pem);

/** As docs/installation.md says: TLS ends here, the Host header and the path stay as they are. */
async function startBehindTls(host: string, peerHost: string, env: Record<string, string>): Promise<Peer> {
  const [tls, plain] = [await freePort(host), await freePort(host)];
  const proxy = createServer(authority.issue({ addresses: [host] }), (request, response) => {
    const forwarded = httpRequest(
      {
        host,
        port: plain,
        path: request.url,
        method: request.method,
        headers: { ...request.headers, 'x-forwarded-proto': 'https' },
      },
      (respond) => {
        response.writeHead(respond.statusCode ?? 502, respond.headers);
        respond.pipe(response);
      },
    );
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(tls, host, resolve));
  t.teardown(() => void (proxy.close(), proxy.closeAllConnections()));
  const origin = `https://${host}:${tls}`;
  const peer = await startPeer(t, {
    host,
    port: plain,
    allow: [peerHost],
    env: { SERVICE_FEDERATION_BASE_URL: origin, ...env },
  });
  return { ...peer, origin, host: `${host}:${tls}` };
}

t.test('federation works over TLS with a private authority, and not without naming it', async (t) => {
  const away = await startBehindTls('127.0.0.2', '127.0.0.1', { SERVICE_CA_FILE: caFile });
  const home = await startBehindTls('127.0.0.1', '127.0.0.2', { SERVICE_CA_FILE: caFile });
  const [alice, bob] = [await home.addPerson('alice'), await away.addPerson('bob')];
  await away.modules.repositories.create(localAdministrator, { owner: 'bob', name: 'tool', visibility: 'PUBLIC' });
  t.match(await home.modules.federation.follow(alice.id, `bob/tool@${away.host}`), { handle: `bob/tool@${away.host}` });
  await home.modules.federation.drain();
  await away.modules.federation.drain();
  t.match((await home.modules.federation.followingOf(alice.id)).repositories, [
    { remoteActorId: `${away.origin}/ap/repos/bob/tool`, state: 'ACCEPTED' },
  ]);
  const work = path.join(home.folder, 'work');
  await runGit(['init', '-q', '-b', 'main', work], { cwd: home.folder });
  await runGit(['commit', '-q', '--allow-empty', '-m', 'Over TLS'], { cwd: work });
  await runGit(['push', '-q', `${away.url.replace('://', `://bob:${bob.token}@`)}/git/bob/tool.git`, 'main'], {
    cwd: work,
  });
  await waitUntil(async () => (await away.modules.federation.countDeliveries()).pending > 0, 'the push is queued');
  await away.modules.federation.drain();
  t.match((await home.modules.federation.followingOf(alice.id)).pushes, [
    { branch: 'main', commits: [{ summary: 'Over TLS' }] },
  ]);
  t.match(
    (await home.modules.federation.checkPeer(away.host)).map(({ ok }) => ok),
    [true, true, true, true, true, true],
  );

  const unaware = await startBehindTls('127.0.0.4', '127.0.0.2', {});
  const carol = await unaware.addPerson('carol');
  await t.rejects(unaware.modules.federation.follow(carol.id, `bob/tool@${away.host}`), /Could not resolve handle/);
  t.match(
    (await unaware.modules.federation.checkPeer(away.host)).find(({ ok }) => ok === false),
    { name: 'webfinger', words: /authority that is not trusted/ },
  );
});
