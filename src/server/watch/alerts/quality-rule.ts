import type { App } from '../parts.ts'
import { type Departure, departedChannels, pastDepartures } from '../quality/departures.ts'
import type { Measured, PastMeasured } from './measures.ts'

/** Channels with the number of quality checks in which they depart. */
export async function measureDepartures(app: App): Promise<Measured[]> {
  return (await departedChannels(app)).map(measuredOf)
}

export async function pastOfDepartures(app: App, span: { from: number; to: number }): Promise<PastMeasured[]> {
  return (await pastDepartures(app, span)).map((one) => ({ ...measuredOf(one), from: one.from, to: one.to }))
}

function measuredOf({ channelId, name, count }: Departure): Measured {
  return { subject: `channel:${channelId}`, name, value: count }
}
