import { noUsage } from '../../../../contract/usage.ts'
import type { EventReader } from '../codec.ts'
import { errorFacts, type ReplyBuilder, readerOf, wholeReply } from '../reply-builder.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { answerText, areCounts, countAt, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** The prediction in its state when it is done, or when the upstream stops waiting for it. */
export function readReply(prediction: JsonObject): ReplyEvent[] {
  return wholeReply((builder) => readPrediction(builder, prediction))
}

/** Streaming is never requested from Replicate. If it streams anyway, each event is read as a prediction. */
export function readStreamEvents(): EventReader {
  return readerOf(readPrediction)
}

function readPrediction(builder: ReplyBuilder, prediction: JsonObject): void {
  switch (textAt(prediction, 'status')) {
    case 'succeeded':
    case 'successful':
      builder.text(answerText(prediction.output))
      readUsage(builder, objectAt(prediction, 'metrics'))
      builder.stop('stop')
      builder.end()
      break
    case 'starting':
    case 'processing':
      builder.fail(errorFacts('the prediction took longer than the upstream waits for it', { status: 504 }))
      break
    default:
      builder.fail(errorFacts(errorText(prediction)))
  }
}

function readUsage(builder: ReplyBuilder, metrics: JsonObject | undefined): void {
  if (!metrics || !areCounts(metrics, ['input_token_count', 'output_token_count'])) return
  const [input, output] = [countAt(metrics, 'input_token_count'), countAt(metrics, 'output_token_count')]
  if (input > 0 && output > 0) builder.usage({ ...noUsage, input, output })
}

function errorText(prediction: JsonObject): string {
  return (
    textAt(prediction, 'error') ||
    textAt(prediction, 'detail') ||
    textAt(prediction, 'title') ||
    'the upstream sent no valid answer'
  )
}
