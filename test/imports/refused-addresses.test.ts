// What a user reads whose import is refused for its address: whole sentences.
import t from 'tap';
import { describeFailure } from '../../src/imports/run/run-import.ts';
import { forbidden, invalid, notFound, unavailable } from '../../src/kernel/index.ts';

const hint = 'An administrator can allow the host: mirrors.allowed_hosts = ["git.example.org"].';

t.test('reasons of a failure', async (t) => {
  const table: [error: unknown, text: string][] = [
    [forbidden('https_only', 'Only https is allowed'), `Only https is allowed. ${hint}`],
    [forbidden('address_not_public', 'The address is not public.'), `The address is not public. ${hint}`],
    [unavailable('peer_unreachable', 'The address is not public.'), `The address is not public. ${hint}`],
    [invalid('invalid_url', 'This is not a URL.'), 'This is not a URL.'],
    [notFound('source_not_found', 'There is no such repository.'), 'There is no such repository.'],
    [new Error('secret'), 'Something went wrong here; the log knows more.'],
  ];
  for (const [error, text] of table) t.equal(describeFailure(error, 'http://git.example.org/bob/tool'), text);
});
