import t from 'tap';
import { isDomainError } from '../../src/kernel/index.ts';
import { parseRemoteAddress } from '../../src/mirrors/remote-address.ts';

const refusalOf = (text: string): string => {
  try {
    parseRemoteAddress(text);
  } catch (error) {
    if (isDomainError(error)) return error.reason;
    throw error;
  }
  return 'taken';
};

t.test('an address has one spelling, whatever form it came in', async (t) => {
  const table: [given: string, text: string, origin: string][] = [
    ['https://Git.Example.org/a.git', 'https://git.example.org/a.git', 'https://git.example.org'],
    [' http://192.168.1.5:3000/a.git ', 'http://192.168.1.5:3000/a.git', 'http://192.168.1.5:3000'],
    ['ssh://git@Git.LAN/alice/a.git', 'ssh://git@git.lan/alice/a.git', 'ssh://git.lan'],
    ['ssh://git@git.lan:22/alice/a.git', 'ssh://git@git.lan/alice/a.git', 'ssh://git.lan'],
    ['ssh://git@git.lan:2222/alice/a.git', 'ssh://git@git.lan:2222/alice/a.git', 'ssh://git.lan:2222'],
    ['ssh://git.lan/alice/a.git', 'ssh://git@git.lan/alice/a.git', 'ssh://git.lan'],
    ['SSH://git@0x7f.1/a', 'ssh://git@127.0.0.1/a', 'ssh://127.0.0.1'],
    ['ssh://git@[::1]:2222/a', 'ssh://git@[::1]:2222/a', 'ssh://[::1]:2222'],
    ['ssh://git@git.lan/~bob/a.git', 'ssh://git@git.lan/~bob/a.git', 'ssh://git.lan'],
    ['git@git.lan:alice/a.git', 'git@git.lan:alice/a.git', 'ssh://git.lan'],
    ['git@git.lan:/srv/a.git', 'ssh://git@git.lan/srv/a.git', 'ssh://git.lan'],
    ['git@[::1]:a.git', 'git@[::1]:a.git', 'ssh://[::1]'],
  ];
  for (const [given, text, origin] of table) {
    const address = parseRemoteAddress(given);
    t.strictSame([address.text, address.origin], [text, origin], given);
    t.equal(parseRemoteAddress(address.text).text, text, `${text} is read as it was written`);
  }
});

t.test(
  'nothing that a program on the way could take for an option, a command or another host is an address',
  async (t) => {
    for (const text of [
      '',
      '/etc/passwd',
      '-oProxyCommand=touch x',
      '--upload-pack=true',
      'ssh://-oProxyCommand=x/a',
      'ssh://-oProxyCommand=x@git.lan/a',
      'ssh://git@-git.lan/a',
      'ssh://git@git.lan:0/a',
      'ssh://git@git.lan:65536/a',
      'ssh://git@git.lan:2x/a',
      'ssh://git@git.lan',
      'ssh://git@git.lan/',
      'ssh://git@git.lan/a%0ab',
      'ssh://git@git.lan/a%00',
      'ssh://git@git.lan/a%',
      'ssh://git@git.lan/a\nb',
      'ssh://git:secret@git.lan/a',
      'ssh://git@git%2elan/a',
      'ssh://git@git.lan%20x/a',
      'ssh://a b@git.lan/a',
      'ssh://$(id)@git.lan/a',
      'ssh://git@$(id)/a',
      'ssh://git@[::1/a',
      'ssh://git@[fe80::1%25eth0]/a',
      '-x@git.lan:a',
      'git@-oProxyCommand=x:a',
      'git@git.lan:-x',
      'git@git.lan:',
      'git@git.lan;id:a',
      'git@',
      'https://alice:pw@git.lan/a',
      'https://:pw@git.lan/a',
      'https://alice@git.lan/a',
      'https://git.lan/a?b',
      `https://git.lan/${'a'.repeat(1_000)}`,
    ])
      t.equal(refusalOf(text), 'invalid_mirror', text);
  },
);
