import t from 'tap';
import { createForm } from '../../src/http/request/form.ts';

t.test('security D12 a form gives named fields only', async (t) => {
  const form = createForm(
    Object.assign(Object.create(null) as object, { name: 'a\r\nb', repos: ['1', '2'], __proto__: 'x' }) as never,
  );
  t.equal(form.text('name'), 'a\nb');
  t.same(form.all('repos'), ['1', '2']);
  t.equal(form.text('repos'), '1');
  for (const absent of ['toString', 'constructor', 'other']) t.same([form.text(absent), form.all(absent)], ['', []]);
});
