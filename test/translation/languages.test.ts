import t from 'tap';
import { chooseLanguage } from '../../src/translation/index.ts';

t.test(
  'the language is the setting of the reader, else what the browser asks for, else that of the server',
  async (t) => {
    const rows: [setting: string | null, header: string | undefined, locale: string, expected: string][] = [
      ['fr', 'de', 'en', 'fr'],
      [null, 'de', 'en', 'de'],
      [null, 'de-AT,en;q=0.5', 'en', 'de'],
      [null, 'DE', 'en', 'de'],
      [null, 'en;q=0.5, fr-CA;q=0.9', 'de', 'fr'],
      [null, 'de;q=0, fr', 'en', 'fr'],
      [null, 'de;q=0', 'en', 'en'],
      [null, 'de;q=0, fr;q=0.000', 'en', 'en'],
      [null, 'de;q=1.1, fr;q=-1', 'en', 'en'],
      [null, 'tlh, *', 'de', 'de'],
      [null, undefined, 'fr', 'fr'],
      [null, '', 'de', 'de'],
      // A language that was removed, a setting that nobody could make, a server with a language that is gone.
      ['tlh', 'de', 'en', 'de'],
      ['__proto__', undefined, 'en', 'en'],
      [null, undefined, 'tlh', 'en'],
      [null, 'de;q=abc,fr;q=0.1', 'en', 'fr'],
      [null, ';;;,,,q=1', 'en', 'en'],
      [null, `${'x'.repeat(8_192)},de`, 'fr', 'fr'],
      [null, 'en-us,'.repeat(1_365), 'de', 'en'],
    ];
    for (const [setting, header, locale, expected] of rows)
      t.equal(chooseLanguage(setting, header, locale), expected, `${setting} ${header?.slice(0, 40)} ${locale}`);
  },
);
