// The peer of a benchmark over HTTP: nginx with git's own http-backend, or with `--url` any other forge.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { HearthServer } from '../hearth-server.ts';
import { readTextOption } from '../harness.ts';
import { copyRepository } from '../sample-history.ts';
import { moveRefs } from '../fetch-request.ts';
import { startNginx } from './nginx.ts';

interface HttpPeer {
  name: string;
  /** Of its repository. */
  url: string;
  /** On this disk; null when it is remote. */
  repository: string | null;
  /** Updates its repository to the state of Hearth's. */
  follow(): void;
  /** Moves a ref, which invalidates cached responses. */
  moveRefs(): void;
  /** CPU seconds so far; undefined when they cannot be measured. */
  cpuS(): number | undefined;
  stop(): void;
}

/** @param options.countProcessorTime costs a shell for every request: where throughput is measured, leave it off */
export async function startHttpPeer(
  hearth: HearthServer,
  options: { countProcessorTime?: boolean } = {},
): Promise<HttpPeer> {
  const url = readTextOption('url');
  if (url !== null) return otherForge(url, hearth.repository);
  const root = path.join(hearth.folder, 'peer');
  const repository = path.join(root, 'bench.git');
  copyRepository(hearth.repository, repository);
  execFileSync('git', ['-C', repository, 'config', 'http.receivepack', 'true']);
  const nginx = await startNginx(hearth.folder, root, hearth.gitConfig, options);
  return {
    name: 'nginx + http-backend',
    url: `${nginx.url}/git/bench.git`,
    repository,
    follow() {
      copyRepository(hearth.repository, repository);
      execFileSync('git', ['-C', repository, 'config', 'http.receivepack', 'true']);
    },
    moveRefs: () => moveRefs(repository),
    cpuS: nginx.cpuS,
    stop: nginx.stop,
  };
}

/**
 * @param url of an empty repository that may be written to, with what that needs:
 *   `https://alice:token@forge.example.org/alice/bench.git`
 */
function otherForge(url: string, repository: string): HttpPeer {
  const push = (...refs: string[]) =>
    execFileSync('git', ['-C', repository, 'push', '-q', '--force', url, ...refs], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  let moves = 0;
  const follow = () => void push('--prune', 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*');
  follow();
  return {
    name: new URL(url).host,
    url,
    repository: null,
    follow,
    moveRefs: () => void push(`HEAD:refs/heads/bench/${moves++}`),
    cpuS: () => undefined,
    stop() {},
  };
}
