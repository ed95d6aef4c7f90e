//! The largest set of states whose representatives stand in the allowed order.
//!
//! "a must come before b, but b's representative stands before a's" is itself a partial order, since both orders are
//! transitive. A set without such a pair is an antichain of it; by Dilworth's theorem the largest one has as many members
//! as there are states, less the edges of a maximum matching (Fulkerson 1956). On a chain this is the longest common
//! subsequence with the model.

use fixedbitset::FixedBitSet;

/// Of the `eligible` states (ascending) a largest set without a conflict; of several, the one that keeps the earliest
/// states. `conflict(a, b)`: a must come before b and came after it.
pub(super) fn largest_in_order(eligible: &[usize], conflict: impl Fn(usize, usize) -> bool) -> FixedBitSet {
    let size = eligible.last().map_or(0, |last| last + 1);
    let mut chosen = FixedBitSet::with_capacity(size);
    let mut conflicts = vec![FixedBitSet::with_capacity(size); size];
    let mut undecided = FixedBitSet::with_capacity(size);
    let mut forward = vec![FixedBitSet::with_capacity(size); size];
    for a in eligible {
        for b in eligible {
            if conflict(*a, *b) {
                set(&mut forward, *a, *b);
                set(&mut conflicts, *a, *b);
                set(&mut conflicts, *b, *a);
                undecided.insert(*a);
                undecided.insert(*b);
            }
        }
        chosen.insert(*a);
    }
    // What has no conflict is in every largest set. Only the rest has to be weighed.
    chosen.difference_with(&undecided);
    let mut matching = Matching::new(size);
    matching.grow(&forward, &undecided);
    for state in eligible {
        if !undecided.contains(*state) {
            continue;
        }
        let width = undecided.count_ones(..) - matching.edges;
        let mut without = undecided.clone();
        without.remove(*state);
        let mut rest = without.clone();
        if let Some(against) = conflicts.get(*state) {
            rest.difference_with(against);
        }
        let mut of_rest = matching.within(&rest);
        of_rest.grow(&forward, &rest);
        if rest.count_ones(..) - of_rest.edges + 1 == width {
            chosen.insert(*state);
            (undecided, matching) = (rest, of_rest);
        } else {
            matching = matching.within(&without);
            matching.grow(&forward, &without);
            undecided = without;
        }
    }
    chosen
}

fn set(rows: &mut [FixedBitSet], row: usize, bit: usize) {
    if let Some(row) = rows.get_mut(row) {
        row.insert(bit);
    }
}

/// A matching between the states as earlier ones and the states as later ones of a conflict.
#[derive(Clone)]
struct Matching {
    /// Earlier → later.
    later: Vec<Option<usize>>,
    /// Later → earlier.
    earlier: Vec<Option<usize>>,
    edges: usize,
}

impl Matching {
    fn new(size: usize) -> Self {
        Self { later: vec![None; size], earlier: vec![None; size], edges: 0 }
    }

    /// The edges between the states that stay.
    fn within(&self, stay: &FixedBitSet) -> Self {
        let mut kept = Self::new(self.later.len());
        for (a, b) in self.later.iter().enumerate() {
            if let Some(b) = b.filter(|b| stay.contains(a) && stay.contains(*b)) {
                kept.join(a, b);
                kept.edges += 1;
            }
        }
        kept
    }

    fn join(&mut self, a: usize, b: usize) {
        if let (Some(later), Some(earlier)) = (self.later.get_mut(a), self.earlier.get_mut(b)) {
            *later = Some(b);
            *earlier = Some(a);
        }
    }

    /// Makes it a maximum one, by augmenting paths (Kuhn 1955).
    fn grow(&mut self, forward: &[FixedBitSet], states: &FixedBitSet) {
        let mut fresh = states.clone();
        for a in states.ones() {
            if self.later.get(a).is_some_and(Option::is_none) && self.augment(a, forward, &mut fresh) {
                self.edges += 1;
                fresh = states.clone();
            }
            // What a failed search has seen leads nowhere until an edge is added.
        }
    }

    fn augment(&mut self, a: usize, forward: &[FixedBitSet], fresh: &mut FixedBitSet) -> bool {
        let Some(row) = forward.get(a) else { return false };
        while let Some(b) = row.intersection(fresh).next() {
            fresh.remove(b);
            let taken = self.earlier.get(b).copied().flatten();
            if taken.is_none_or(|other| self.augment(other, forward, fresh)) {
                self.join(a, b);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best(sets: usize, conflict: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::new();
        for mask in 0u32..(1 << sets) {
            let members: Vec<usize> = (0..sets).filter(|s| mask & (1 << s) != 0).collect();
            let good = members.iter().all(|a| members.iter().all(|b| !conflict(*a, *b)));
            if good && (members.len() > best.len() || (members.len() == best.len() && members < best)) {
                best = members;
            }
        }
        best
    }

    proptest! {
        /// Against every subset, on random partial orders: the closure of random edges, and random places.
        #[test]
        fn it_is_the_earliest_of_the_largest(
            edges in proptest::collection::vec((0usize..8, 0usize..8), 0..20),
            places in Just((0usize..8).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut before = [[false; 8]; 8];
            for (a, b) in edges {
                if a < b {
                    before[a][b] = true;
                }
            }
            for k in 0..8 {
                for i in 0..8 {
                    for j in 0..8 {
                        before[i][j] |= before[i][k] && before[k][j];
                    }
                }
            }
            let conflict = |a: usize, b: usize| before[a][b] && places[b] < places[a];
            let all: Vec<usize> = (0..8).collect();
            let found: Vec<usize> = largest_in_order(&all, conflict).ones().collect();
            prop_assert_eq!(found, best(8, conflict));
        }

        /// On a chain it is the longest common subsequence with the model.
        #[test]
        fn on_a_chain_it_is_the_longest_increasing_subsequence(
            places in Just((0usize..40).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let all: Vec<usize> = (0..40).collect();
            let found = largest_in_order(&all, |a, b| a < b && places[b] < places[a]).count_ones(..);
            let mut longest = vec![0usize; 40];
            for i in 0..40 {
                longest[i] = 1 + (0..i).filter(|j| places[*j] < places[i]).map(|j| longest[j]).max().unwrap_or(0);
            }
            prop_assert_eq!(found, longest.into_iter().max().unwrap_or(0));
        }
    }
}
