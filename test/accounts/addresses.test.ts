import t from 'tap';
import { addressKey, readAddress } from '../../src/accounts/addresses/address-rules.ts';
import { createNoReplyAddresses } from '../../src/accounts/no-reply.ts';
import { dayMs, minuteMs, openAccounts, openWithAlice, outcomes, password, reasonOf } from './accounts-fixture.ts';
import { createMailStub } from './mail-stub.ts';

t.test('an address is parsed strictly, and compared without case', (t) => {
  const long = 'a'.repeat(64);
  const accepted: [string, string][] = [
    ['alice@example.org', 'alice@example.org'],
    ['Alice.B+git@Example.ORG', 'alice.b+git@example.org'],
    ["o'brien@example.org", "o'brien@example.org"],
    ['root@nas', 'root@nas'],
    ['alice@bücher.example', 'alice@xn--bcher-kva.example'],
    ['alice@ｅｘａｍｐｌｅ.org', 'alice@example.org'],
    // The Cyrillic а of this domain shows.
    ['alice@exаmple.org', 'alice@xn--exmple-4nf.org'],
    [`${long}@example.org`, `${long}@example.org`],
  ];
  for (const [text, key] of accepted) t.equal(addressKey(text), key, text);
  t.equal(readAddress('Alice@EXAMPLE.org')?.address, 'Alice@example.org', 'the local part is written as it was typed');

  const refused = [
    '',
    'alice',
    '@example.org',
    'alice@',
    'alice@@example.org',
    'a@b@example.org',
    'alice@example.org.',
    '.alice@example.org',
    'alice.@example.org',
    'al..ice@example.org',
    '"alice"@example.org',
    '"a@b"@example.org',
    'alice (the first)@example.org',
    'Alice <alice@example.org>',
    'alice@example.org, bob@example.org',
    'alice@example.org\nBcc: bob@example.org',
    'alice@example.org\r\nRCPT TO:<bob@example.org>',
    'al\0ice@example.org',
    'alice\u200b@example.org',
    // The Cyrillic а looks like the Latin one; ü and 東 have to wait for servers with SMTPUTF8.
    'аlice@example.org',
    'zoë@example.org',
    '東@example.org',
    'alice＠example.org',
    'alice@[127.0.0.1]',
    'alice@127.0.0.1',
    'alice@0x7f.1',
    'alice@2130706433',
    'alice@exa_mple.org',
    'alice@-example.org',
    'alice@example%2eorg',
    'alice@exam ple.org',
    'alice@\u202egro.elpmaxe',
    `${long}a@example.org`,
    `alice@${'a.'.repeat(125)}org`,
    `alice@${'a'.repeat(64)}.org`,
  ];
  for (const text of refused) t.equal(addressKey(text), null, JSON.stringify(text));
  for (const value of [undefined, null, 1, ['alice@example.org'], { address: 'alice@example.org' }]) {
    t.equal(addressKey(value), null);
  }
  t.end();
});

t.test('no-reply addresses are those of this host', (t) => {
  const id = '0195a1b2-0000-7000-8000-000000000001';
  const of = (baseUrl: string | null) => createNoReplyAddresses(baseUrl).of({ id, username: 'Alice' });
  t.equal(of('https://git.example.org'), `${id}+Alice@noreply.git.example.org`);
  t.equal(of('http://nas:3000'), `${id}+Alice@noreply.nas`);
  t.equal(of('http://[fe80::1]:3000'), `${id}+Alice@noreply.fe80-1`);
  t.equal(of(null), `${id}+Alice@noreply.localhost`);
  const here = createNoReplyAddresses('https://git.example.org');
  t.equal(here.personIdOf(`${id}+alice@noreply.git.example.org`), id);
  t.equal(here.personIdOf(`${id.toUpperCase()}+old-name@NOREPLY.git.example.org`), id, 'the id alone decides');
  t.equal(here.personIdOf(`${id}+alice@noreply.localhost`), id, 'from before the address of the server was set');
  for (const other of [
    `${id}+alice@noreply.git.example.com`,
    `${id}+alice@git.example.org`,
    `${id}@noreply.git.example.org`,
    `${id}+@noreply.git.example.org`,
    `x${id}+alice@noreply.git.example.org`,
    `alice@noreply.git.example.org`,
    `${id}+a@evil.example@noreply.git.example.org`,
    `${id}+${'a'.repeat(9_999)}@noreply.git.example.org`,
  ]) {
    t.equal(here.personIdOf(other), null, other.slice(0, 80));
  }
  t.end();
});

t.test('an address is private and owns nothing until its link was used', async (t) => {
  const { mail, sent } = createMailStub();
  const { accounts, alice, clock, storedBytes } = await openWithAlice(t, {}, mail);
  const { addresses } = accounts;
  const added = await addresses.add(alice.id, { address: ' Alice@Example.org ' });
  t.match(added, { address: 'Alice@example.org', isPrimary: false, isPublic: false, verifiedAt: null });
  t.equal(await addresses.primaryOf(alice.id), null);
  t.equal((await addresses.peopleByAddress(['alice@example.org'])).size, 0);

  const secret = sent[0]!.data.secret!;
  t.equal(sent[0]!.kind, 'address.verify');
  t.notOk(storedBytes().includes(secret), 'the database has only the hash');
  t.equal((await addresses.checkVerification(alice.id, secret)).address, 'Alice@example.org');
  t.equal((await addresses.list(alice.id))[0]?.verifiedAt, null, 'a look at the page uses nothing up');
  clock.advance(minuteMs);
  await addresses.verify(alice.id, secret);
  t.match(await addresses.list(alice.id), [{ isPrimary: true, isPublic: false, verifiedAt: clock.now() }]);
  t.equal(await addresses.primaryOf(alice.id), 'Alice@example.org');
  t.equal((await addresses.publicOf([alice.id])).size, 0);
  t.equal((await addresses.peopleByAddress(['ALICE@example.org'])).get('ALICE@example.org')?.username, 'Alice');
});

t.test('a link works once, for a day, for one account, and as a whole', async (t) => {
  const { mail, sent, last } = createMailStub();
  const { accounts, alice, clock } = await openWithAlice(t, { linkMailsPerHour: 100 }, mail);
  const { addresses } = accounts;
  const bob = await accounts.addPerson({ username: 'bob', password });
  const one = await addresses.add(alice.id, { address: 'alice@example.org' });
  const secret = last().data.secret!;
  const refused = async (personId: string, text: string) => [
    await reasonOf(addresses.checkVerification(personId, text)),
    await reasonOf(addresses.verify(personId, text)),
  ];
  const closed = ['link_closed', 'link_closed'];
  for (const text of ['', secret.slice(0, -1), `${secret}=`, secret.toLowerCase(), 'x'.repeat(43), "' OR 1=1 --"]) {
    t.same(await refused(alice.id, text), closed, `truncated or made up: ${text.slice(0, 50)}`);
  }
  t.same(await refused(bob.id, secret), closed, 'of another person');
  const reset = await addresses.sendVerification(alice.id, one.id);
  t.equal(reset.verifiedAt, null);
  const second = last().data.secret!;
  t.equal((await addresses.checkVerification(alice.id, secret)).id, one.id, 'the earlier link still works');
  await addresses.verify(alice.id, second);
  t.same(await refused(alice.id, second), closed, 'used');
  t.same(await refused(alice.id, secret), closed, 'the other one of a verified address');
  t.equal(await reasonOf(addresses.sendVerification(alice.id, one.id)), 'address_verified');

  const two = await addresses.add(alice.id, { address: 'alice@example.com' });
  const ofTwo = last().data.secret!;
  await addresses.remove(alice.id, two.id);
  await addresses.add(alice.id, { address: 'alice@example.com' });
  t.same(await refused(alice.id, ofTwo), closed, 'of an address that was removed');
  const late = last().data.secret!;
  clock.advance(dayMs);
  t.same(await refused(alice.id, late), closed, 'expired');
  const before = sent.length;
  t.equal(await accounts.removeExpired(), before, 'and the rows go');
});

t.test('only a verified address is unique, so nobody can keep it from its owner', async (t) => {
  const { mail, last } = createMailStub();
  const { accounts, alice } = await openWithAlice(t, {}, mail);
  const { addresses } = accounts;
  const bob = await accounts.addPerson({ username: 'bob', password });
  await addresses.add(bob.id, { address: 'alice@example.org' });
  const ofBob = last().data.secret!;
  await addresses.add(alice.id, { address: 'ALICE@example.org' });
  const ofAlice = last().data.secret!;
  t.equal(await reasonOf(addresses.add(alice.id, { address: 'alice@example.org' })), 'address_known');
  t.same(await outcomes([addresses.verify(alice.id, ofAlice), addresses.verify(bob.id, ofBob)]), {
    accepted: 1,
    address_in_use: 1,
  });
  const [holder] = [...(await addresses.peopleByAddress(['alice@example.org'])).values()];
  t.equal(holder?.id, alice.id);
  t.equal(await reasonOf(addresses.add(bob.id, { address: 'alice@example.org' })), 'address_known');
  const carol = await accounts.addPerson({ username: 'carol', password });
  const again = await addresses.add(carol.id, { address: 'alice@example.org' });
  t.equal(again.verifiedAt, null, 'it does not show that another account has it');
  t.equal(await reasonOf(addresses.markVerified(carol.id, again.id)), 'address_in_use');
  t.equal(await reasonOf(addresses.add(alice.id, { address: `${bob.id}+bob@noreply.localhost` })), 'reserved_address');
  t.equal(await reasonOf(addresses.add(alice.id, { address: 'bob@noreply.localhost' })), 'reserved_address');
});

t.test('without mail an administrator vouches for addresses', async (t) => {
  const { mail, sent } = createMailStub(false);
  const { accounts, alice } = await openWithAlice(t, {}, mail);
  const { addresses } = accounts;
  t.notOk(addresses.canSendLinks);
  const one = await addresses.add(alice.id, { address: 'alice@example.org' });
  t.same(sent, []);
  t.equal(await reasonOf(addresses.sendVerification(alice.id, one.id)), 'mail_not_configured');
  t.equal((await addresses.markVerified(alice.id, one.id)).isPrimary, true);
  t.equal((await addresses.markVerified(alice.id, one.id)).isPrimary, true, 'twice is as good as once');
  const two = await addresses.add(alice.id, { address: 'root@nas', isVerified: true, isPublic: true });
  t.match(two, { isPrimary: false, isPublic: true });
  t.same([...(await addresses.publicOf([alice.id])).values()], ['root@nas']);
  t.same([...(await addresses.primariesOf([alice.id])).values()], ['alice@example.org']);
});

t.test('the primary address is one of the verified ones, and another follows a removed one', async (t) => {
  const { accounts, alice, clock } = await openWithAlice(t, {}, createMailStub().mail);
  const { addresses } = accounts;
  const add = async (address: string, isVerified = true) => {
    clock.advance(1);
    return addresses.add(alice.id, { address, isVerified });
  };
  const [one, two, three] = [await add('1@example.org'), await add('2@example.org'), await add('3@example.org', false)];
  const listed = async () => (await addresses.list(alice.id)).map(({ address, isPrimary }) => [address[0], isPrimary]);
  t.same(await listed(), [
    ['1', true],
    ['2', false],
    ['3', false],
  ]);
  t.equal(await reasonOf(addresses.setPrimary(alice.id, three.id)), 'address_unverified');
  await addresses.setPrimary(alice.id, two.id);
  t.same(await listed(), [
    ['2', true],
    ['1', false],
    ['3', false],
  ]);
  await addresses.remove(alice.id, two.id);
  t.same(await listed(), [
    ['1', true],
    ['3', false],
  ]);
  await addresses.remove(alice.id, one.id);
  t.equal(await addresses.primaryOf(alice.id), null);
  t.equal((await addresses.peopleByAddress(['1@example.org'])).size, 0, 'its commits have no person any more');
  const bob = await accounts.addPerson({ username: 'bob', password });
  for (const work of [addresses.remove, addresses.setPrimary, addresses.sendVerification, addresses.markVerified]) {
    t.equal(await reasonOf(work(bob.id, three.id)), 'unknown_address', 'one of another person is like an absent one');
  }
  t.equal(await reasonOf(addresses.setPublic(bob.id, three.id, true)), 'unknown_address');
});

t.test('people are found by verified and no-reply addresses at once, under any name', async (t) => {
  const { accounts, alice } = await openWithAlice(t);
  const { addresses } = accounts;
  const bob = await accounts.addPerson({ username: 'bob', password });
  const newcomer = await accounts.addPerson({ displayName: 'New Comer' });
  await addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  await addresses.add(newcomer.id, { address: 'new@example.org', isVerified: true });
  await addresses.add(bob.id, { address: 'bob@example.org' });
  const before = addresses.noReplyOf(bob);
  await accounts.renamePerson(bob.id, 'robert');
  const other = await accounts.addPerson({ username: 'bobby', password });
  const queried = [
    'alice@example.org',
    'Alice@Example.org',
    'bob@example.org',
    'new@example.org',
    before,
    '',
    'no one',
  ];
  const found = await addresses.peopleByAddress([...queried, addresses.noReplyOf(other)]);
  t.same(Object.fromEntries([...found].map(([address, { username }]) => [address, username])), {
    [before]: 'robert',
    [addresses.noReplyOf(other)]: 'bobby',
    'alice@example.org': 'Alice',
    'Alice@Example.org': 'Alice',
  });
  t.equal((await addresses.peopleByAddress([])).size, 0);
  await accounts.deletePerson(alice.id);
  t.equal((await addresses.peopleByAddress(['alice@example.org'])).size, 0);
  t.equal((await addresses.add(other.id, { address: 'alice@example.org', isVerified: true })).isPrimary, true);
});

t.test('addresses and mails of one person, and mails to one address, are limited', async (t) => {
  const { mail } = createMailStub();
  const limits = { maxAddressesPerPerson: 3, linkMailsPerHour: 4, linkMailsPerAddressHour: 6 };
  const { accounts, clock } = await openAccounts(t, limits, mail);
  const { addresses } = accounts;
  const [alice, bob] = [await accounts.addPerson({ username: 'alice' }), await accounts.addPerson({ username: 'bob' })];
  const one = await addresses.add(alice.id, { address: 'victim@example.org' });
  await addresses.add(alice.id, { address: '2@example.org' });
  await addresses.add(alice.id, { address: '3@example.org' });
  t.equal(await reasonOf(addresses.add(alice.id, { address: '4@example.org' })), 'too_many_addresses');
  await addresses.sendVerification(alice.id, one.id);
  t.equal(await reasonOf(addresses.sendVerification(alice.id, one.id)), 'too_many_mails');
  // Adding it again and again is no way around.
  await addresses.remove(alice.id, one.id);
  t.equal(await reasonOf(addresses.add(alice.id, { address: 'victim@example.org' })), 'too_many_mails');
  t.equal((await addresses.list(alice.id)).length, 2, 'a refused address is not added');

  const ofBob = await addresses.add(bob.id, { address: 'Victim@example.org' });
  for (let sent = 1; sent < limits.linkMailsPerHour; sent += 1) await addresses.sendVerification(bob.id, ofBob.id);
  const carol = await accounts.addPerson({ username: 'carol' });
  t.equal(await reasonOf(addresses.add(carol.id, { address: 'victim@example.org' })), 'too_many_mails');
  clock.advance(60 * minuteMs);
  t.equal(await reasonOf(addresses.add(carol.id, { address: 'victim@example.org' })), 'accepted');
});
