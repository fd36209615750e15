import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { readRequestLog } from '../run/request-log.ts';
import { type FinishedRun, isFailure } from './finished-run.ts';

/** What a run asked of one operation, from its first attempt to the end of its last. */
interface Asked {
  from: number;
  to: number;
  requests: number;
  throttles: number;
  credits: number;
}

/**
 * Sends a run as a trace to `OTEL_EXPORTER_OTLP_ENDPOINT`: a span of the run, and one of each operation it asked for. The
 * SDK reads the other `OTEL_…` variables itself. Failures go to `warn`.
 */
export async function exportTrace(
  requests: string,
  finished: FinishedRun,
  warn: (message: string) => void,
): Promise<void> {
  const exporter = new OTLPTraceExporter({ timeoutMillis: 10_000 });
  const send = exporter.export.bind(exporter);
  exporter.export = (spans, onResult) =>
    send(spans, (result) => {
      if (result.error !== undefined) warn(`OpenTelemetry: the trace was refused (${result.error.name})`);
      onResult(result);
    });
  const name = process.env.OTEL_SERVICE_NAME ?? 'ledgerlake';
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': name })),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('ledgerlake');
  const asked = finished.run === null ? [] : [...(await readAsked(requests, finished.run))];
  const run = tracer.startSpan(`ledgerlake ${finished.verb}`, {
    startTime: Date.parse(finished.started_at),
    attributes: {
      'ledgerlake.run': finished.run ?? '',
      'ledgerlake.exit_code': finished.exit_code,
      'ledgerlake.requests': finished.requests,
      'ledgerlake.credits': finished.credits,
    },
  });
  if (isFailure(finished)) run.setStatus({ code: SpanStatusCode.ERROR, message: finished.outcome });
  const within = trace.setSpan(context.active(), run);
  for (const [operation, { from, to, requests, throttles, credits }] of asked) {
    const attributes = {
      'ledgerlake.requests': requests,
      'ledgerlake.throttles': throttles,
      'ledgerlake.credits': credits,
    };
    tracer.startSpan(operation, { startTime: from, attributes }, within).end(to);
  }
  run.end(Date.parse(finished.finished_at));
  await provider.shutdown().catch((error: Error) => warn(`OpenTelemetry: ${error.name}`));
}

async function readAsked(path: string, run: string): Promise<Map<string, Asked>> {
  const asked = new Map<string, Asked>();
  for await (const entry of readRequestLog(path)) {
    if (entry.run !== run || entry.outcome === 'saved' || entry.outcome === 'sum') continue;
    const at = Date.parse(entry.at);
    const known = asked.get(entry.operation) ?? { from: at, to: at, requests: 0, throttles: 0, credits: 0 };
    asked.set(entry.operation, known);
    known.from = Math.min(known.from, at);
    known.to = Math.max(known.to, at + entry.latencyMs);
    known.requests += 1;
    known.credits += entry.credits;
    if (entry.outcome === 'throttled') known.throttles += 1;
  }
  return asked;
}
