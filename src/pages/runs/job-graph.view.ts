import { isFinal, statusOfMatrix } from '../../ci/index.ts';
import type { JobRow, RunStatus } from '../../ci/index.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';

/** A box of the graph: one job, all jobs of its matrix together. */
interface NodeView {
  key: string;
  label: string;
  url: string;
  status: StatusView;
  x: number;
  y: number;
}

/** The dependencies between jobs, from left to right, as numbers for an SVG. */
export interface JobGraphView {
  width: number;
  height: number;
  nodes: NodeView[];
  /** Curves, as the `d` of a path. */
  edges: string[];
}

const box = { width: 184, height: 40, gapX: 56, gapY: 14, margin: 4 };
const maxLabel = 22;

const running: readonly RunStatus[] = ['cancelling', 'running', 'waiting', 'blocked'];

/** The status of a matrix as one: an unfinished job takes precedence over finished ones. */
function statusOf(matrixJobs: readonly JobRow[]): RunStatus {
  return (
    statusOfMatrix(matrixJobs) ??
    running.find((status) => matrixJobs.some((job) => job.status === status)) ??
    matrixJobs.find((job) => !isFinal(job.status))!.status
  );
}

/**
 * Lays a run out: every job one column behind the last of those that it needs. Null for a single job, which needs no
 * picture.
 */
export function viewJobGraph(jobs: readonly JobRow[], jobUrl: (job: JobRow) => string): JobGraphView | null {
  const groups = [...Map.groupBy(jobs, (job) => job.jobKey)];
  if (groups.length < 2) return null;
  const needs = new Map(groups.map(([key, matrixJobs]) => [key, matrixJobs[0]!.needs]));
  const depths = new Map<string, number>();
  const depthOf = (key: string): number => {
    const known = depths.get(key);
    if (known !== undefined) return known;
    depths.set(key, 0);
    const depth = Math.max(-1, ...(needs.get(key) ?? []).map(depthOf)) + 1;
    depths.set(key, depth);
    return depth;
  };
  const rows = new Map<number, number>();
  const nodes = groups.map(([key, matrixJobs]) => {
    const depth = depthOf(key);
    const row = rows.get(depth) ?? 0;
    rows.set(depth, row + 1);
    const first = matrixJobs.find((job) => job.status === 'failure') ?? matrixJobs[0]!;
    const label = matrixJobs.length > 1 ? `${key} (${matrixJobs.length})` : matrixJobs[0]!.name;
    return {
      key,
      label: label.length > maxLabel ? `${label.slice(0, maxLabel - 1)}…` : label,
      url: jobUrl(first),
      status: viewStatus(statusOf(matrixJobs)),
      x: box.margin + depth * (box.width + box.gapX),
      y: box.margin + row * (box.height + box.gapY),
    };
  });
  const at = new Map(nodes.map((node) => [node.key, node]));
  const edges = nodes.flatMap((node) =>
    (needs.get(node.key) ?? []).flatMap((need) => (at.has(need) ? [curve(at.get(need)!, node)] : [])),
  );
  return {
    width: Math.max(...nodes.map(({ x }) => x)) + box.width + box.margin,
    height: Math.max(...nodes.map(({ y }) => y)) + box.height + box.margin,
    nodes,
    edges,
  };
}

function curve(from: NodeView, to: NodeView): string {
  const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
