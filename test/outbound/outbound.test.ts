import http from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { withUserAgent } from '../../src/outbound/user-agent.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { createOutbound, isAllowedHost, isPublicAddress } from '../../src/outbound/index.ts';
import type { Outbound, OutboundOptions } from '../../src/outbound/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { makeAuthority } from './certificates.ts';

function outboundFor(t: Owner, options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = createOutbound({ baseUrl: null, isAllowed: () => true, devAllowInsecure: false, ...options });
  t.teardown(() => outbound.close());
  return outbound;
}

async function listen(t: Owner, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Reason and message of a refusal. */
async function refusalOf(work: Promise<unknown>): Promise<{ reason: string; message: string }> {
  try {
    await work;
  } catch (error) {
    if (isDomainError(error)) return { reason: error.reason, message: error.message };
    throw error;
  }
  return { reason: '', message: 'it was not refused' };
}

const get = (url: string) => ({ method: 'GET', url, headers: {}, maxBytes: 1000 }) as const;

t.test('an address is public only when the internet routes it', async (t) => {
  const inner = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.1.1.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '100::1',
    '5f00::1',
    'not an address',
    '',
  ];
  for (const address of inner) t.notOk(isPublicAddress(address), address);
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '193.0.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::64',
  ]) {
    t.ok(isPublicAddress(address), address);
  }
});

t.test('SPEC §7 a URL that is not https is refused in exactly these words', async (t) => {
  const outbound = outboundFor(t);
  for (const url of [
    'http://forge.example/inbox',
    'HTTP://forge.example',
    'ftp://forge.example/',
    'file:///etc/passwd',
    'gopher://forge.example',
  ]) {
    const refusal = await refusalOf(outbound.checkUrl(url));
    t.ok(refusal.message === 'Only https is allowed' || refusal.reason === 'invalid_url', `${url}: ${refusal.message}`);
  }
  t.match(await refusalOf(outbound.checkUrl('http://forge.example/inbox')), {
    reason: 'https_only',
    message: 'Only https is allowed',
  });
});

t.test('security G01 no spelling of a private address passes the check of the parsed URL', async (t) => {
  const outbound = outboundFor(t);
  const spellings = [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://１２７.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[fe80::1]/',
    'https://10.0.0.1:443/',
    'https://127.0.0.1\t/',
    'https://127.0.0.1\\@forge.example/',
    'https://169.254.169.254/latest/meta-data',
  ];
  for (const url of spellings) t.equal((await refusalOf(outbound.checkUrl(url))).reason, 'address_not_public', url);
  for (const url of [
    'https://alice:secret@forge.example/',
    'https://@',
    'https:///',
    'nonsense',
    '',
    '//forge.example',
  ]) {
    t.equal((await refusalOf(outbound.checkUrl(url))).reason, 'invalid_url', url);
  }
});

t.test('SPEC §5 development mode relaxes scheme and address, never the allowlist', async (t) => {
  const lookups: string[] = [];
  const outbound = outboundFor(t, {
    devAllowInsecure: true,
    isAllowed(url) {
      lookups.push(url.host);
      return url.hostname === '127.0.0.1';
    },
  });
  t.equal((await outbound.checkUrl('http://127.0.0.1:3000/x')).href, 'http://127.0.0.1:3000/x');
  t.equal((await refusalOf(outbound.checkUrl('http://127.0.0.2:3000/x'))).reason, 'host_not_allowed');
  t.equal((await refusalOf(outbound.checkUrl('ftp://127.0.0.1/'))).reason, 'https_only');
  t.strictSame(lookups, ['127.0.0.1:3000', '127.0.0.2:3000']);
});

t.test(
  'security G01 a name with one private address is refused, whichever comes first, and nothing is contacted',
  async (t) => {
    let connections = 0;
    const port = await listen(
      t,
      createServer(() => void (connections += 1)),
    );
    for (const addresses of [
      ['127.0.0.1'],
      ['1.1.1.1', '127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['64:ff9b::7f00:1'],
    ]) {
      const outbound = outboundFor(t, { resolve: async () => addresses });
      const refusal = await refusalOf(outbound.send(get(`https://rebind.example:${port}/`)));
      t.match(refusal, { reason: 'peer_unreachable', message: /not public/ }, addresses.join(' '));
    }
    const none = outboundFor(t, { resolve: async () => [] });
    t.match(await refusalOf(none.send(get('https://forge.example/'))), { message: /does not resolve/ });
    t.equal(connections, 0);
  },
);

t.test('security G01 the connection goes to the address that was checked, without a second look-up', async (t) => {
  let looks = 0;
  const hosts: (string | undefined)[] = [];
  const port = await listen(
    t,
    http.createServer((request, response) => {
      hosts.push(request.headers.host);
      response.end('hello');
    }),
  );
  const outbound = outboundFor(t, {
    devAllowInsecure: true,
    resolve: async () => {
      looks += 1;
      return looks === 1 ? ['127.0.0.1'] : ['127.0.0.9'];
    },
  });
  for (let turn = 0; turn < 3; turn++) {
    const response = await outbound.send({
      ...get(`http://forge.example:${port}/`),
      headers: { Host: `forge.example:${port}` },
    });
    t.equal(response.body.toString(), 'hello');
  }
  t.equal(looks, 1, 'a kept connection stays where it is');
  t.strictSame(new Set(hosts), new Set([`forge.example:${port}`]));
});

t.test('a redirect is a response, not a way to somewhere else', async (t) => {
  let [visits, status] = [0, 0];
  const port = await listen(
    t,
    http.createServer((request, response) => {
      visits += 1;
      request.resume();
      response.writeHead(status, { Location: `http://127.0.0.1:${port}/elsewhere` }).end();
    }),
  );
  const outbound = outboundFor(t, { devAllowInsecure: true });
  for (status of [301, 302, 303, 307, 308])
    for (const method of ['GET', 'POST'] as const) {
      const request = { ...get(`http://127.0.0.1:${port}/`), method };
      t.equal((await outbound.send(request)).status, status);
      const opened = await outbound.open({ ...request, silenceMs: 1_000, headMs: 1_000 });
      opened.stream.resume();
      t.equal(opened.status, status);
      t.equal(visits, 2, `${method} ${status}`);
      visits = 0;
    }
});

t.test('security G07 slow, huge, compressed and broken responses cost bounded time and bytes', async (t) => {
  const port = await listen(
    t,
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (data) => {
        const target = data.toString().split(' ')[1];
        if (target === '/silent') return;
        if (target === '/drip') {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n');
          const drip = setInterval(() => socket.write('x'), 20);
          socket.on('close', () => clearInterval(drip));
        } else if (target === '/huge') {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          const flood = setInterval(() => socket.write(`3e8\r\n${'x'.repeat(1000)}\r\n`), 1);
          socket.on('close', () => clearInterval(flood));
        } else if (target === '/packed')
          socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc');
        else if (target === '/garbage') socket.end('this is no HTTP\r\n\r\n');
        else if (target === '/headers') socket.end(`HTTP/1.1 200 OK\r\n${'X-Long: yes\r\n'.repeat(5000)}\r\n`);
        else socket.destroy();
      });
    }),
  );
  const outbound = outboundFor(t, { devAllowInsecure: true, limits: { totalMs: 200 } });
  const refusals = Object.fromEntries(
    await Promise.all(
      ['silent', 'drip', 'huge', 'packed', 'garbage', 'headers', 'gone'].map(
        async (name) => [name, await refusalOf(outbound.send(get(`http://127.0.0.1:${port}/${name}`)))] as const,
      ),
    ),
  );
  t.match(refusals, {
    silent: { reason: 'peer_unreachable', message: /did not answer in time/ },
    drip: { reason: 'peer_unreachable', message: /did not answer in time/ },
    huge: { reason: 'answer_too_large' },
    packed: { reason: 'answer_encoded' },
    garbage: { reason: 'peer_unreachable', message: /not HTTP/ },
    headers: { reason: 'peer_unreachable' },
    gone: { reason: 'peer_unreachable', message: /closed the connection/ },
  });
  const away = new AbortController();
  const given = refusalOf(outbound.send({ ...get(`http://127.0.0.1:${port}/silent`), signal: away.signal }));
  away.abort();
  t.match(await given, { message: /given up/ });
});

t.test('a reused connection that the other side closed is no failure', async (t) => {
  let requests = 0;
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    requests += 1;
    response.end('again');
    // Closed without a word, after the response: the next request meets a dead connection.
    setImmediate(() => request.socket.destroy());
  });
  const port = await listen(t, server);
  const outbound = outboundFor(t, { devAllowInsecure: true });
  for (let turn = 0; turn < 5; turn++)
    t.equal((await outbound.send(get(`http://127.0.0.1:${port}/`))).body.toString(), 'again');
  t.equal(requests, 5);
});

t.test(
  'certificates count: expired, foreign and misnamed ones are refused in words, a private authority is trusted when named',
  async (t) => {
    const authority = makeAuthority();
    const caFile = path.join(temporaryFolder(t), 'authority.pem');
    writeFileSync(caFile, authority.pem);
    const serve = (leaf: { key: string; cert: string }) =>
      listen(t, https.createServer(leaf, (_request, response) => response.end('over TLS')) as unknown as Server);
    const resolve = async () => ['127.0.0.1'];
    const good = await serve(authority.issue({ names: ['forge.example'] }));
    const expired = await serve(authority.issue({ names: ['forge.example'], days: -1 }));
    const other = await serve(authority.issue({ names: ['other.example'] }));

    const trusting = outboundFor(t, { devAllowInsecure: true, resolve, caFile });
    t.equal((await trusting.send(get(`https://forge.example:${good}/`))).body.toString(), 'over TLS');
    t.match(await refusalOf(trusting.send(get(`https://forge.example:${expired}/`))), {
      message: /certificate has expired/,
    });
    t.match(await refusalOf(trusting.send(get(`https://forge.example:${other}/`))), {
      message: /certificate is for another name/,
    });
    const usual = outboundFor(t, { devAllowInsecure: true, resolve });
    t.match(await refusalOf(usual.send(get(`https://forge.example:${good}/`))), {
      message: /authority that is not trusted/,
    });
    t.throws(
      () => createOutbound({ baseUrl: null, isAllowed: () => true, devAllowInsecure: false, caFile: '/nowhere.pem' }),
      /authorities .* cannot be used/,
    );
  },
);

t.test('the name takes the place of any other, in whatever letters that is written', (t) => {
  for (const header of ['User-Agent', 'user-agent', 'USER-AGENT'])
    t.strictSame(withUserAgent({ [header]: 'other', Accept: '*/*' }, 'Hearth'), {
      Accept: '*/*',
      'User-Agent': 'Hearth',
    });
  t.end();
});

t.test('every request names the program and its address, whatever its maker wrote', async (t) => {
  const seen: (string | undefined)[] = [];
  const port = await listen(
    t,
    http.createServer((request, response) => {
      seen.push(request.headers['user-agent']);
      t.equal(request.rawHeaders.filter((name) => name.toLowerCase() === 'user-agent').length, 1);
      response.end('ok');
    }),
  );
  const url = `http://127.0.0.1:${port}/`;
  const askAll = async (outbound: Outbound): Promise<void> => {
    const given: Record<string, string>[] = [{}, { 'User-Agent': 'other' }, { 'user-agent': 'other/1', Accept: '*/*' }];
    for (const headers of given) {
      await outbound.send({ method: 'GET', url, headers, maxBytes: 100 });
      await outbound.send({ method: 'POST', url, headers, body: Buffer.from('x'), maxBytes: 100 });
      const opened = await outbound.open({ method: 'GET', url, headers, silenceMs: 1_000, headMs: 1_000 });
      opened.stream.resume();
    }
  };
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  await askAll(outboundFor(t, { devAllowInsecure: true, baseUrl: 'https://git.example.org/' }));
  t.strictSame(new Set(seen), new Set([`Hearth/${version} (+https://git.example.org)`]));
  seen.length = 0;
  await askAll(outboundFor(t, { devAllowInsecure: true, baseUrl: null }));
  t.strictSame(new Set(seen), new Set([`Hearth/${version}`]));
});

t.test('no more than four connections to one host at a time', async (t) => {
  let open = 0;
  let most = 0;
  const port = await listen(
    t,
    http.createServer((_request, response) => {
      most = Math.max(most, (open += 1));
      setTimeout(() => {
        open -= 1;
        response.end();
      }, 10);
    }),
  );
  const outbound = outboundFor(t, { devAllowInsecure: true });
  await Promise.all(Array.from({ length: 20 }, () => outbound.send(get(`http://127.0.0.1:${port}/`))));
  t.equal(most, 4);
});

t.test(
  'a bare name on a host list opens the default port of each scheme only; another port needs its own entry',
  async (t) => {
    const table: [url: string, hosts: string[], listed: boolean][] = [
      ['https://ci.lan/', ['ci.lan'], true],
      ['https://ci.lan:443/', ['ci.lan'], true],
      ['http://ci.lan/', ['ci.lan'], true],
      ['ssh://ci.lan', ['ci.lan'], true],
      ['ssh://ci.lan:22', ['ci.lan'], true],
      ['https://ci.lan:8080/', ['ci.lan'], false],
      ['http://ci.lan:8080/', ['ci.lan'], false],
      ['https://ci.lan:80/', ['ci.lan'], false],
      ['http://ci.lan:443/', ['ci.lan'], false],
      ['ssh://ci.lan:2222', ['ci.lan'], false],
      ['ssh://ci.lan:443', ['ci.lan'], false],
      ['http://ci.lan:8080/', ['ci.lan:8080'], true],
      ['https://ci.lan:8080/', ['ci.lan:8080'], true],
      ['ssh://ci.lan:8080', ['ci.lan:8080'], true],
      ['http://ci.lan/', ['ci.lan:8080'], false],
      ['https://ci.lan/', ['ci.lan:8080'], false],
      ['http://ci.lan:8081/', ['ci.lan:8080'], false],
      ['http://ci.lan/', ['ci.lan:80'], true],
      ['https://ci.lan/', ['ci.lan:80'], false],
      ['ssh://ci.lan', ['ci.lan:22'], true],
      ['https://[::1]:8443/', ['[::1]:8443'], true],
      ['https://[::1]:8443/', ['[::1]'], false],
      ['https://other.ci.lan/', ['ci.lan'], false],
      ['https://ci.lan.example.org/', ['ci.lan'], false],
    ];
    for (const [url, hosts, listed] of table)
      t.equal(isAllowedHost(new URL(url), hosts), listed, `${url} with ${hosts.join()}`);
  },
);

t.test(
  'security G01 one private address among public ones refuses them all, also for a program that connects by itself',
  async (t) => {
    const rules = { isAllowed: () => true, devAllowInsecure: false };
    for (const addresses of [
      ['1.1.1.1', '127.0.0.1'],
      ['127.0.0.1', '1.1.1.1'],
      ['2606:4700::1111', '1.1.1.1', '::1'],
    ]) {
      const outbound = outboundFor(t, { ...rules, resolve: async () => addresses });
      t.match(await refusalOf(outbound.resolve('https://git.example.org/x.git')), { reason: 'address_not_public' });
    }
    const outbound = outboundFor(t, { ...rules, resolve: async () => ['1.1.1.1', '2606:4700::1111'] });
    t.strictSame((await outbound.resolve('https://git.example.org/x.git')).addresses, ['1.1.1.1', '2606:4700::1111']);
    const named = outboundFor(t, {
      ...rules,
      resolve: async () => ['127.0.0.1', '1.1.1.1'],
      allowsPrivate: (url) => isAllowedHost(url, ['git.lan']),
    });
    t.strictSame((await named.resolve('https://git.lan/x.git')).addresses, ['127.0.0.1', '1.1.1.1']);
    t.match(await refusalOf(named.resolve('https://git.lan:8443/x.git')), { reason: 'address_not_public' });
  },
);

t.test('ssh is for hosts that were named, and only where a program of its own connects', async (t) => {
  const outbound = outboundFor(t, {
    resolve: async () => ['127.0.0.1'],
    allowsPrivate: (url) => isAllowedHost(url, ['git.lan', 'git.lan:2222', '127.0.0.1:2222']),
    mayUseSsh: (url) => isAllowedHost(url, ['git.lan', 'git.lan:2222', '127.0.0.1:2222']),
  });
  for (const url of ['ssh://git.lan', 'ssh://git.lan:2222', 'ssh://127.0.0.1:2222'])
    t.strictSame((await outbound.resolve(url)).addresses, ['127.0.0.1'], url);
  for (const url of ['ssh://other.lan', 'ssh://git.lan:23', 'ssh://127.0.0.1', 'ssh://127.0.0.1:22'])
    t.match(await refusalOf(outbound.resolve(url)), { reason: 'https_only' }, url);
  // Of a scheme that the URL standard does not know, the parser leaves spellings as they are.
  for (const url of ['ssh://0x7f.1:2222', 'ssh://GIT.lan', 'ssh://g%69t.lan', 'ssh://-oProxyCommand=x'])
    t.match(await refusalOf(outbound.resolve(url)), { reason: /^(?:invalid_url|https_only)$/ }, url);
  t.match(await refusalOf(outbound.send(get('ssh://git.lan'))), { reason: 'https_only' });
  t.match(await refusalOf(outbound.checkUrl('ssh://git.lan')), { reason: 'https_only' });
});

t.test('of several addresses the one that responds is found', async (t) => {
  const port = await listen(t, createServer());
  const outbound = outboundFor(t);
  t.equal(await outbound.reachable(['127.0.0.1'], port), '127.0.0.1');
  t.equal(await outbound.reachable(['::1', '127.0.0.1'], port), '127.0.0.1');
  t.equal(await outbound.reachable(['127.0.0.3', '127.0.0.1'], port), '127.0.0.1');
  t.match(await refusalOf(outbound.reachable(['127.0.0.3', '127.0.0.4'], port)), { reason: 'peer_unreachable' });
});
