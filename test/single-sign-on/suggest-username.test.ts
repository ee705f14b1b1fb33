import t from 'tap';
import { suggestUsername } from '../../src/single-sign-on/suggest-username.ts';

t.test('a claim becomes a valid username, or none', async (t) => {
  const cases: [claim: string, username: string | null][] = [
    ['alice', 'alice'],
    ['Alice', 'Alice'],
    ['alice@example.org', 'alice'],
    ['José García', 'Jose-Garcia'],
    ['first.last', 'first.last'],
    ['a..b__c--d', 'a.b_c-d'],
    ['-alice-', 'alice'],
    ['DOMAIN\\alice', 'DOMAIN-alice'],
    ['x'.repeat(100), 'x'.repeat(39)],
    ['12345', null],
    ['日本', null],
    ['admin', null],
    ['constructor', null],
    ['alice.git', null],
    ['', null],
  ];
  for (const [claim, username] of cases) t.equal(suggestUsername(claim), username, claim);
});
