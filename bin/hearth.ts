import { main } from '../src/cli/index.ts';

void main(process);
