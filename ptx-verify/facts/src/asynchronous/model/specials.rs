//! What special registers have in a launch.

use ptx_ir::special::SpecialRegister;

use super::device::WORKSPACE;
use super::machine::{Machine, Warp};
use super::value::{ALL, Value};

impl Machine<'_> {
    /// What a special register has in the lanes of a warp.
    pub(super) fn special(&self, warp: &Warp, register: SpecialRegister) -> Value {
        type R = SpecialRegister;
        let [x, y, _] = self.scenario.threads.map(u64::from);
        let first = u64::from(warp.index) * 32;
        let place = |divisor: u64, extent: u64| {
            Value::by_lane(move |lane| ((first + u64::from(lane)) / divisor.max(1)) % extent.max(1))
        };
        let rank = warp.block as u64;
        let (blocks, row) = (u64::from(self.scenario.blocks), u64::from(self.scenario.row.max(1)));
        if self.scenario.of_grid {
            let is_alone = !self.program.clustered;
            match register {
                R::CLUSTER_CTARANK
                | R::CLUSTER_CTAID
                | R::CLUSTER_CTAID_X
                | R::CLUSTER_CTAID_Y
                | R::CLUSTER_CTAID_Z
                    if is_alone =>
                {
                    return Value::Uniform(0);
                }
                R::CLUSTER_NCTARANK | R::CLUSTER_NCTAID | R::CLUSTER_NCTAID_X | R::CLUSTER_NCTAID_Y
                    if is_alone =>
                {
                    return Value::Uniform(1);
                }
                R::NCLUSTERID | R::NCLUSTERID_X | R::NCLUSTERID_Y if !is_alone => return Value::Uniform(1),
                // The driver puts there where blocks of a grid meet.
                R::ENVREG1 => return Value::Uniform(WORKSPACE & u64::from(u32::MAX)),
                R::ENVREG2 => return Value::Uniform(WORKSPACE >> 32),
                R::NCTAID | R::NCTAID_X | R::NCLUSTERID | R::NCLUSTERID_X => {
                    return Value::Uniform(row);
                }
                R::NCTAID_Y | R::NCLUSTERID_Y => return Value::Uniform(blocks / row),
                _ => {}
            }
        }
        let threads: u64 = self.scenario.threads.iter().map(|&extent| u64::from(extent)).product();
        Value::Uniform(match register {
            R::TID | R::TID_X => return place(1, x),
            R::TID_Y => return place(x, y),
            R::TID_Z => return place(x * y, u64::MAX),
            R::LANEID => return Value::by_lane(u64::from),
            R::LANEMASK_EQ => return Value::by_lane(|lane| 1 << lane),
            R::LANEMASK_LT => return Value::by_lane(|lane| (1 << lane) - 1),
            R::LANEMASK_LE => return Value::by_lane(|lane| (2 << lane) - 1),
            R::LANEMASK_GT => return Value::by_lane(|lane| u64::from(ALL) & !((2 << lane) - 1)),
            R::LANEMASK_GE => return Value::by_lane(|lane| u64::from(ALL) & !((1 << lane) - 1)),
            R::NTID | R::NTID_X => x,
            R::NTID_Y => y,
            R::NTID_Z => u64::from(self.scenario.threads[2]),
            R::WARPID => u64::from(warp.index),
            R::NWARPID => threads.div_ceil(32),
            R::CLUSTER_CTARANK => rank,
            R::CTAID | R::CTAID_X => rank % row + u64::from(self.scenario.place) * row,
            R::CLUSTER_CTAID | R::CLUSTER_CTAID_X => rank % row,
            R::CTAID_Y | R::CLUSTER_CTAID_Y => rank / row,
            R::CTAID_Z | R::CLUSTER_CTAID_Z => 0,
            R::CLUSTERID | R::CLUSTERID_X => u64::from(self.scenario.place),
            R::CLUSTERID_Y | R::CLUSTERID_Z => 0,
            R::NCTAID | R::NCTAID_X => self.scenario.grid(),
            R::NCLUSTERID | R::NCLUSTERID_X => self.scenario.grid() / row,
            R::NCTAID_Y | R::CLUSTER_NCTAID_Y => blocks.div_ceil(row),
            R::NCTAID_Z | R::NCLUSTERID_Y | R::NCLUSTERID_Z | R::CLUSTER_NCTAID_Z => 1,
            R::CLUSTER_NCTAID | R::CLUSTER_NCTAID_X => row,
            R::CLUSTER_NCTARANK => blocks,
            // What the driver puts there is as unknown as a parameter.
            R::ENVREG0 | R::ENVREG1 | R::ENVREG2 | R::ENVREG3 => self.scenario.parameter,
            _ => return Value::Unknown,
        })
    }
}
