import t from 'tap';
import { loadConfig } from '../../src/config/index.ts';
import { cloneAddress } from '../../src/ssh/commands/clone-address.ts';

t.test('a clone address can be copied as it is, once the host is known', async (t) => {
  const address = (env: Record<string, string>, port: number): string =>
    cloneAddress(loadConfig({ env, cwd: '/', readFile: () => '' }).config, port, { owner: 'alice', name: 'site' });
  t.equal(address({}, 2222), 'ssh://git@HOST:2222/alice/site.git', 'the reader has just typed the host');
  t.equal(address({}, 22), 'git@HOST:alice/site.git');
  t.equal(
    address({ SERVICE_BASE_URL: 'https://git.example.org' }, 2222),
    'ssh://git@git.example.org:2222/alice/site.git',
  );
  t.equal(
    address({ SERVICE_BASE_URL: 'https://git.example.org', SERVICE_SSH_PUBLIC_PORT: '22' }, 2222),
    'git@git.example.org:alice/site.git',
  );
  t.equal(
    address({ SERVICE_SSH_PUBLIC_HOST: 'ssh.example.org' }, 2222),
    'ssh://git@ssh.example.org:2222/alice/site.git',
  );
});
