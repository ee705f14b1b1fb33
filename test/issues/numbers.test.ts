// time limit: 600 s
// Eight writers at once: numbers without gap or double. HEARTH_ISSUES says how many issues each opens; a few by
// default.
import t from 'tap';
import { openIssues, roof } from './issues-fixture.ts';

const each = Number(process.env['HEARTH_ISSUES'] ?? 25);
const writers = 8;
const many = { perMinute: 1e9, perHour: 1e9 };

t.test(`${writers} writers x ${each} issues: numbers without gap or double`, async (t) => {
  const modules = await openIssues(t, { settings: { perPerson: many, perRepository: many } });
  const numbers: number[] = [];
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      // Another instance of the module on the same data, as another process would have.
      const issues = modules.beside({ perPerson: many, perRepository: many });
      for (let count = 0; count < each; count++) {
        const title = `${writer}.${count}`;
        // Some fail after the number was given out, and give it back.
        if (count % 5 === 0)
          await issues.open(modules.alice, roof, { title, labels: ['missing'] }).catch(() => numbers.length);
        numbers.push((await issues.open(modules.alice, roof, { title })).number);
      }
    }),
  );
  t.same(
    numbers.sort((a, b) => a - b),
    Array.from({ length: writers * each }, (_, index) => index + 1),
  );
  const { id } = (await modules.repositories.find(modules.alice, 'alice', 'roof')).repository;
  t.equal((await modules.issues.count(id)).openIssues, writers * each, 'and counted as many');
});
