import { Select } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useText } from '../../lib/i18n.ts'
import { ChangedMark } from './changed-mark.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

interface SectionListProps {
  readonly sections: readonly { readonly name: string; readonly label: string; readonly isChanged: boolean }[]
  /** The section that is open, if each is a page of its own. */
  readonly open: string | undefined
}

const atSection = (section: string) => (old: object) => ({ ...old, section })

/** The sections of a tab, as a list beside them; on a narrow window pages are chosen above them. */
export function SectionList({ sections, open }: SectionListProps) {
  const say = useText(texts)
  const navigate = useNavigate()
  return (
    <>
      <nav className={styles.sections} aria-label={say('sections')}>
        {sections.map(({ name, label, isChanged }) => (
          <Link
            key={name}
            to="."
            search={atSection(name)}
            resetScroll={open !== undefined}
            className={styles.sectionLink}
            activeProps={{}}
            aria-current={name === open ? 'page' : undefined}
          >
            {label} {isChanged && <ChangedMark />}
          </Link>
        ))}
      </nav>
      {open !== undefined && (
        <Select
          className={styles.sectionSelect ?? ''}
          aria-label={say('sections')}
          value={open}
          data={sections.map(({ name, label, isChanged }) => ({
            value: name,
            label: isChanged ? say('changedName', { name: label }) : label,
          }))}
          onChange={(name) => name !== null && void navigate({ to: '.', search: atSection(name) })}
          allowDeselect={false}
          maxDropdownHeight={420}
        />
      )}
    </>
  )
}
