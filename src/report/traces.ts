import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { readRequestLog } from '../run/request-log.ts';
import { type FinishedRun, isFailure } from './finished-run.ts';

/** A run's requests for one operation, from the first attempt to the end of the last. */
interface OperationUse {
  from: number;
  to: number;
  requests: number;
  throttles: number;
  credits: number;
}

/**
 * Sends a run as a trace to `OTEL_EXPORTER_OTLP_ENDPOINT`: a span for the run, and one for each operation that it called. The
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
  const operations = finished.run === null ? [] : [...(await readOperations(requests, finished.run))];
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
  for (const [operation, { from, to, requests, throttles, credits }] of operations) {
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

async function readOperations(path: string, run: string): Promise<Map<string, OperationUse>> {
  const operations = new Map<string, OperationUse>();
  for await (const entry of readRequestLog(path)) {
    if (entry.run !== run || entry.outcome === 'saved' || entry.outcome === 'sum') continue;
    const at = Date.parse(entry.at);
    const use = operations.get(entry.operation) ?? {
      from: at,
      to: at,
      requests: 0,
      throttles: 0,
      credits: 0,
    };
    operations.set(entry.operation, use);
    use.from = Math.min(use.from, at);
    use.to = Math.max(use.to, at + entry.latencyMs);
    use.requests += 1;
    use.credits += entry.credits;
    if (entry.outcome === 'throttled') use.throttles += 1;
  }
  return operations;
}
