// What an application asks for, in the words that a person reads before they allow it.
import t from 'tap';
import { describeScopes } from '../../src/oauth/index.ts';

const [download, publish] = ['Download packages that you can see', 'Download and publish packages as you'];
const read = 'Read everything that you can read, private repositories included';
const write = 'Read everything that you can read, and push to repositories, issues and pull requests as you';
const account = 'Know which account you have here';

t.test('the words never say less than the scopes give', async (t) => {
  const table: [string, string[]][] = [
    ['openid', [account]],
    ['read:package', [download]],
    ['write:package', [publish]],
    ['openid read:package', [account, download]],
    ['read:package write:package', [publish]],
    ['read:repository', [read]],
    ['read:package read:repository', [read]],
    ['read:repository read:package', [read]],
    ['write:package read:repository', [write]],
    ['read:package write:issue', [write]],
    ['openid write:issue read:package', [account, write]],
  ];
  for (const [scopes, words] of table) t.strictSame(describeScopes(scopes.split(' ')), words, scopes);
});
