// askHealth(url): asks `/healthz` every 10 ms in a process that does nothing else, until it is stopped. Requests during
// which the host took the processor away from this virtual machine (steal time) are counted apart.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What runs in the other process; a request that fails counts as one that is never answered. */
const program = (url: string): string => `
  const fs = require('node:fs');
  const http = require('node:http');
  const agent = new http.Agent({ keepAlive: true });
  const took = [];
  let open = 0;
  let paused = 0;
  const stolen = () => Number(fs.readFileSync('/proc/stat', 'latin1').split('\\n', 1)[0].split(/ +/)[8] ?? 0);
  const timer = setInterval(() => {
    const [startedAt, before] = [performance.now(), stolen()];
    open += 1;
    http.get('${url}/healthz', { agent }, (response) => {
      response.resume().on('end', () => {
        const ms = performance.now() - startedAt;
        if (stolen() === before) took.push(ms);
        else paused += 1;
        open -= 1;
      });
    }).on('error', () => { took.push(1e6); open -= 1; });
  }, 10);
  process.stdin.resume().on('end', async () => {
    clearInterval(timer);
    while (open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(JSON.stringify({ times: took.sort((a, b) => a - b), paused }));
    process.exit(0);
  });`;

interface HealthTimes {
  /** Milliseconds of each request, sorted. */
  times: number[];
  /** Requests that are not among them: the machine did not run meanwhile. */
  paused: number;
}

interface HealthProbe {
  stop(): Promise<HealthTimes>;
}

export function askHealth(url: string): HealthProbe {
  const child = spawn(process.execPath, ['-e', program(url)], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return {
    async stop(): Promise<HealthTimes> {
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
      return JSON.parse(text) as HealthTimes;
    },
  };
}
