import t from 'tap';
import { deviceName } from '../../src/accounts/sessions/device-name.ts';

t.test('devices are named by browser and system', async (t) => {
  t.equal(deviceName('Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'), 'Firefox on Linux');
  t.equal(
    deviceName(
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    ),
    'Safari on macOS',
  );
  t.equal(
    deviceName('Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0'),
    'Edge on Windows',
  );
  t.equal(deviceName('curl/8.9.1'), 'curl');
  t.equal(deviceName('lab-script/1'), 'lab-script');
  t.equal(deviceName(''), 'Unknown device');
});
