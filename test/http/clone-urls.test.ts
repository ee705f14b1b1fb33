import t from 'tap';
import { viewCloneBox } from '../../src/http/response/clone-urls.ts';

t.test('clone addresses are what git needs', async (t) => {
  const box = (origin: string, port: number, ssh: { publicHost?: string; publicPort?: number } = {}) =>
    viewCloneBox({
      origin,
      owner: 'alice',
      name: 'kiln',
      ssh: { port, fingerprint: 'SHA256:x' },
      preferred: 'ssh',
      config: { ssh: { publicHost: null, publicPort: null, ...ssh } as never },
    });
  t.equal(box('https://git.example.org', 2222).https, 'https://git.example.org/git/alice/kiln.git');
  t.equal(box('https://git.example.org', 2222).ssh, 'ssh://git@git.example.org:2222/alice/kiln.git');
  t.equal(box('https://git.example.org:8443', 22).ssh, 'git@git.example.org:alice/kiln.git');
  t.equal(
    box('http://x', 2222, { publicPort: 22, publicHost: 'ssh.example.org' }).ssh,
    'git@ssh.example.org:alice/kiln.git',
  );
  t.equal(box('http://[::1]:3000', 22).ssh, 'ssh://git@[::1]/alice/kiln.git', 'the short form cannot hold colons');
  const off = viewCloneBox({
    origin: 'http://x',
    owner: 'a',
    name: 'b',
    ssh: null,
    preferred: 'ssh',
    config: { ssh: {} as never },
  });
  t.same([off.ssh, off.chosen], [null, 'https'], 'without SSH there is nothing to prefer');
});
