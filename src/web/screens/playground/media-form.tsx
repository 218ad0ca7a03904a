import { ActionIcon, Button, FileButton, Group, NumberInput, SegmentedControl, Select, Stack, Textarea } from '@mantine/core'
import { IconArrowUp, IconPhotoPlus, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { useText } from '../../lib/i18n.ts'
import { usdText } from '../../lib/prices.ts'
import { read } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import shared from '../../ui/shared.module.css'
import { PictureThumb } from '../../ui/view/picture-thumb.tsx'
import { orderMedia } from './ask.ts'
import { newId } from './conversation.ts'
import {
  clipRatios,
  emptyDraft,
  estimateUsd,
  type Media,
  type MediaDraft,
  mediaKinds,
  pictureSizes,
  picturesAtOnceMax,
} from './media.ts'
import { MediaView } from './media-view.tsx'
import { pictureTypes, readPictures } from './pictures.ts'
import styles from './playground.module.css'
import type { Choices } from './settings.ts'
import { texts } from './texts.ts'

interface MediaFormProps {
  readonly choices: Choices
  /** Whether it can be sent; shows which settings are missing otherwise. */
  readonly isReady: () => boolean
}

interface Ordered {
  readonly id: string
  readonly model: string
  readonly prompt: string
  /** Undefined while the order is on its way. */
  readonly media: Media | undefined
}

/** Orders pictures and clips, and shows what came of each order, newest first. */
export function MediaForm({ choices: { settings, groups }, isReady }: MediaFormProps) {
  const say = useText(texts)
  const [draft, setDraft] = useState<MediaDraft>(emptyDraft)
  const [orders, setOrders] = useState<readonly Ordered[]>([])
  const { data: prices = [] } = useQuery(read('GET /api/pricing'))
  const { group, models } = settings
  const [first = ''] = models
  const row = prices.find(({ model_name }) => model_name === first)
  const usd = estimateUsd(draft, row, groups.data?.[group]?.ratio ?? 1)
  const change = (patch: Partial<MediaDraft>) => setDraft((before) => ({ ...before, ...patch }))

  function send(): void {
    if (!isReady()) return
    for (const model of models) {
      const id = newId()
      setOrders((all) => [{ id, model, prompt: draft.prompt.trim(), media: undefined }, ...all])
      void orderMedia(draft, { group, model }).then((media) =>
        setOrders((all) => all.map((order) => (order.id === id ? { ...order, media } : order))),
      )
    }
  }

  return (
    <section className={styles.chat} aria-label={say('media')}>
      <div className={styles.scroller}>
        <Stack gap="lg" className={styles.deciding ?? ''}>
          <SegmentedControl
            w="fit-content"
            aria-label={say('mediaKind')}
            value={draft.kind}
            onChange={(kind) => change({ kind: mediaKinds.find((one) => one === kind) ?? 'picture' })}
            data={mediaKinds.map((value) => ({ value, label: say(value) }))}
          />
          <Textarea
            label={say('mediaPrompt')}
            placeholder={say(draft.kind === 'picture' ? 'pictureExample' : 'clipExample')}
            autosize
            minRows={3}
            maxRows={10}
            value={draft.prompt}
            onChange={(event) => change({ prompt: event.currentTarget.value })}
          />
          <MediaFields draft={draft} clips={row?.clips ?? undefined} onChange={change} />
          <Group justify="space-between">
            <span className={shared.hint}>
              {usd === undefined ? say('costAfterwards') : say('costEstimate', { amount: usdText(usd) })}
            </span>
            <Button
              leftSection={<IconArrowUp size={16} />}
              disabled={draft.prompt.trim() === '' && draft.first === ''}
              onClick={send}
            >
              {say('mediaSend')}
            </Button>
          </Group>
          {orders.map(({ id, ...order }) => (
            <MediaView key={id} {...order} />
          ))}
        </Stack>
      </div>
    </section>
  )
}

interface MediaFieldsProps {
  readonly draft: MediaDraft
  /** What the price list says of the clips of the model. */
  readonly clips: NonNullable<PriceRow['clips']> | undefined
  readonly onChange: (patch: Partial<MediaDraft>) => void
}

function MediaFields({ draft, clips, onChange }: MediaFieldsProps) {
  const say = useText(texts)
  const auto = { value: '', label: say('byModel') }
  const count = (
    <NumberInput
      label={say('mediaCount')}
      min={1}
      max={picturesAtOnceMax}
      clampBehavior="strict"
      allowDecimal={false}
      value={draft.count}
      onChange={(next) => onChange({ count: Number(next) || 1 })}
    />
  )
  if (draft.kind === 'picture')
    return (
      <div className={styles.mediaFields}>
        <Choice
          label={say('pictureSize')}
          value={draft.size}
          onChange={(size) => onChange({ size })}
          data={[auto, ...pictureSizes.map((value) => ({ value, label: value.replace('x', ' × ') }))]}
        />
        {count}
      </div>
    )

  const resolutions = [...new Set(clips?.rates.map(({ resolution }) => resolution))].filter((each) => each !== '')
  const offered = resolutions.length > 0 ? resolutions : usualResolutions
  return (
    <>
      <div className={styles.mediaFields}>
        <NumberInput
          label={say('clipSeconds')}
          placeholder={clips ? String(clips.seconds.usual) : say('byModel')}
          min={1}
          max={clips?.seconds.longest ?? clipSecondsUsual}
          clampBehavior="strict"
          allowDecimal={false}
          value={draft.seconds}
          onChange={(next) => onChange({ seconds: next === '' ? '' : Number(next) })}
        />
        <Choice
          label={say('clipResolution')}
          value={draft.resolution}
          onChange={(resolution) => onChange({ resolution })}
          data={[auto, ...offered.map((value) => ({ value, label: value }))]}
        />
        <Choice
          label={say('clipRatio')}
          value={draft.ratio}
          onChange={(ratio) => onChange({ ratio })}
          data={[auto, ...clipRatios.map((value) => ({ value, label: value }))]}
        />
        <Choice
          label={say('clipSound')}
          value={draft.sound}
          onChange={(sound) => onChange({ sound: sound === 'with' || sound === 'without' ? sound : '' })}
          data={[auto, { value: 'with', label: say('withSound') }, { value: 'without', label: say('withoutSound') }]}
        />
        {count}
      </div>
      <FirstPicture first={draft.first} onChange={(first) => onChange({ first })} />
    </>
  )
}

const usualResolutions = ['480p', '720p', '1080p']
const clipSecondsUsual = 60

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly data: readonly { readonly value: string; readonly label: string }[]
}

function Choice({ label, value, onChange, data }: ChoiceProps) {
  return <Select label={label} allowDeselect={false} value={value} onChange={(next) => onChange(next ?? '')} data={[...data]} />
}

function FirstPicture({ first, onChange }: { first: string; onChange: (first: string) => void }) {
  const say = useText(texts)

  async function add(file: File | null): Promise<void> {
    if (!file) return
    const { pictures, refused } = await readPictures([file])
    if (refused > 0) toast.warn(say('pictureRefused', { count: refused }))
    onChange(pictures[0] ?? '')
  }

  if (first === '')
    return (
      <FileButton accept={pictureTypes.join(',')} onChange={(file) => void add(file)}>
        {(button) => (
          <Button {...button} variant="default" leftSection={<IconPhotoPlus size={16} stroke={1.6} />} w="fit-content">
            {say('clipFirst')}
          </Button>
        )}
      </FileButton>
    )
  return (
    <Group gap="xs">
      <PictureThumb src={first} alt={say('clipFirst')} />
      <ActionIcon variant="default" aria-label={say('clipFirstRemove')} onClick={() => onChange('')}>
        <IconX size={14} />
      </ActionIcon>
    </Group>
  )
}
