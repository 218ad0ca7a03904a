import { Button, Skeleton } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import type { Widget } from '../../../contract/fields.ts'
import type { Option, Section } from '../../../contract/options/define.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { HintTag } from '../../ui/view/status-tag.tsx'
import { ChangedMark } from './changed-mark.tsx'
import type { Drafts, FieldValues } from './drafts.ts'
import { ResetRatios } from './reset-ratios.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

// Loaded on demand, because few tabs have a secret.
const SecretInput = lazy(async () => ({ default: (await import('./secret-input.tsx')).SecretInput }))

interface OptionSectionProps {
  readonly section: Section
  readonly saved: FieldValues
  /** The secrets that have a value. */
  readonly secrets: Readonly<Record<string, boolean>>
  readonly drafts: Drafts
}

/** A setting of this card with a separate page. */
const onwards: Readonly<Record<string, { to: string; search: Record<string, string>; label: keyof typeof texts }>> = {
  logs: { to: '/log', search: {}, label: 'purgeLogs' },
  budgets: { to: '/budgets', search: {}, label: 'toBudgets' },
  groups: { to: '/setting', search: { tab: 'prices' }, label: 'toPrices' },
}

/** One card of settings. */
export function OptionSection({ section, saved, secrets, drafts }: OptionSectionProps) {
  const { place, options } = section
  const say = useText(texts)
  const local = useLocal()
  const isRoot = useMay('root')
  const serverAddress = useServerAddress()
  const isLocked = (key: string) => !isRoot && (options[key]?.writer ?? place.writer) === 'root'

  const onward = onwards[place.name]

  const keys = Object.keys(options)
  const locked = keys.every(isLocked)

  function inputOf(key: string) {
    const draft = drafts.values[key]
    return {
      value: inputValue(options[key]?.widget, draft ?? saved[key] ?? ''),
      onChange: (value: unknown) => drafts.set(key, String(value) === saved[key] ? undefined : String(value), place),
      error: drafts.errors[key],
      disabled: isLocked(key),
      mark: draft !== undefined && <ChangedMark />,
    }
  }

  function drawSecret(key: string, option: Option): ReactNode {
    return (
      <Suspense fallback={<Skeleton height={58} />}>
        <SecretInput
          field={option}
          isSet={secrets[key] === true}
          draft={drafts.values[key]}
          onChange={(value) => drafts.set(key, value, place)}
          error={drafts.errors[key]}
          disabled={isLocked(key)}
        />
      </Suspense>
    )
  }
  const ofSecrets = Object.entries(options).filter(([, { secret }]) => secret)

  return (
    <div id={place.name} className={styles.anchored}>
      <Panel
        title={local(place.label)}
        description={place.help && local(place.help, { ServerAddress: serverAddress })}
        aside={
          keys.some(isLocked) && (
            <HintTag hint={say('rootOnlyHint')}>
              <IconLock size={13} aria-hidden="true" />
              {say('rootOnly')}
            </HintTag>
          )
        }
        footer={
          !locked &&
          (place.name === 'prices' || onward) && (
            <>
              {place.name === 'prices' && <ResetRatios />}
              {onward && (
                <Button
                  variant="subtle"
                  className={styles.first ?? ''}
                  renderRoot={(button) => <Link {...button} to={onward.to} search={onward.search} />}
                >
                  {say(onward.label)}
                </Button>
              )}
            </>
          )
        }
      >
        <FieldsForm
          isGrid
          fields={options}
          form={{ values: saved, getInputProps: inputOf }}
          draw={Object.fromEntries(ofSecrets.map(([key, option]) => [key, drawSecret(key, option)]))}
        />
      </Panel>
    </div>
  )
}

/** The value of an option in its input. Options are exchanged as text: `true` of a switch, commas between tags. */
function inputValue(widget: Widget | undefined, text: string): boolean | string | string[] {
  if (widget === 'switch') return text === 'true'
  return widget === 'tags' ? text.split(',').filter((tag) => tag !== '') : text
}
